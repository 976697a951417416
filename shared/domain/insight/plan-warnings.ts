import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { storedConditionTask } from '../collections/condition-entry.ts'
import { conditionWarningsTask } from '../collections/condition-warnings.ts'
import { objectTypeOf } from '../collections/live-members.ts'
import { CORE_TYPE } from '../criteria/collection-members.ts'
import { missingValuesTask } from '../criteria/missing-values.ts'
import type { PausedByDto } from '../group-links/removal-pause.ts'
import { countBits } from '../tenant-index/rows/bitmap.ts'
import type { RowSnapshot } from '../tenant-index/rows/row-snapshot.ts'
import type { PlanWarning } from './change-plan.ts'
import type { PlanInput } from './plan-input.ts'
import type { LinkEffect } from './planned-accounts.ts'
import type { PlannedEffect } from './planned-effect.ts'
import { sameMembersTask } from './same-members.ts'

/** The whole condition. */
const ROOT = ''

/**
 * What is probably not intended about a change. To be run in one task with the effect.
 * @param mayRead Whether the caller may learn what values objects have for a schema name.
 */
export function* warningsTask(
  input: PlanInput,
  rows: RowSnapshot,
  effect: PlannedEffect,
  mayRead: (name: string) => boolean,
): Task<PlanWarning[]> {
  const { after } = input.change
  const { members, planned, membersInput } = effect
  const matchedCount = countBits(members.after)
  const condition = yield* storedConditionTask(after, rows.settings.types)
  const missing = yield* missingValuesTask(condition, rows, membersInput.todayMs, mayRead)
  const same = matchedCount === 0 ? [] : yield* sameMembersTask(members.after, input.collections, planned, membersInput)
  return [
    ...(yield* conditionWarningsTask(condition, rows.settings)),
    ...extentWarnings(matchedCount, rows.tables[CORE_TYPE[objectTypeOf(after)]].liveCount),
    ...missing.map(
      ({ name, value, pointer }): PlanWarning => ({
        code: 'ValueNotInData',
        message: `No object has the value ${value} for ${name}`,
        target: pointer,
      }),
    ),
    ...same.map(
      ({ id, name }): PlanWarning => ({
        code: 'SameAs',
        message: `The collection ${name} has the same members`,
        target: id,
      }),
    ),
    ...effect.links.filter(({ wouldHold }) => wouldHold).map(holdWarning),
    ...effect.links.filter(({ pausedRemovals }) => pausedRemovals > 0).map(pauseWarning),
    ...effect.links.filter(({ endsPause }) => endsPause).map(resumeWarning),
  ]
}

function extentWarnings(matchedCount: number, objectCount: number): PlanWarning[] {
  if (matchedCount === 0) return [{ code: 'MatchesNobody', message: 'The condition matches no object', target: ROOT }]
  if (matchedCount < objectCount) return []
  return [{ code: 'MatchesEverybody', message: 'The condition matches every object of its type', target: ROOT }]
}

function pauseWarning({ link, pausedRemovals, pausedBy }: LinkEffect): PlanWarning {
  const { count, members } = pausedBy ?? { count: 0, members: [] }
  const more = count > members.length ? ` and ${count - members.length} more` : ''
  const why = `${count} members have no directory account: ${members.map(memberText).join(', ')}${more}`
  const message = `${pausedRemovals} accounts would stay in ${groupOf(link)}, because ${why}`
  return { code: 'RemovalsPaused', message, target: ROOT }
}

function resumeWarning({ link }: LinkEffect): PlanWarning {
  const message = `Removals from ${groupOf(link)} are paused until now: the accounts that have stayed would be removed too`
  return { code: 'RemovalsResumed', message, target: ROOT }
}

function memberText({ identityId, displayName, directoryObjectId }: PausedByDto['members'][number]): string {
  if (directoryObjectId !== null) return `account ${directoryObjectId}`
  return identityId === null ? 'a position without an identity' : `${displayName ?? 'unnamed'} (${identityId})`
}

function groupOf({ directoryGroupDisplayName, directoryGroupId, id }: LinkEffect['link']): string {
  return `the group ${directoryGroupDisplayName ?? directoryGroupId} (link ${id})`
}

function holdWarning({ link, toRemove }: LinkEffect): PlanWarning {
  const message = `The removal guard would hold the removal of ${toRemove} accounts from ${groupOf(link)}`
  return { code: 'WouldHold', message, target: ROOT }
}
