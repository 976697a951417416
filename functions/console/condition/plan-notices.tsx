import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { PausedByDto } from '../../../shared/domain/group-links/removal-pause.ts'
import type { ChangePlan, PlanWarning } from '../../../shared/domain/insight/change-plan.ts'
import { t } from '../language/texts.ts'
import { attributeText } from './attribute-text.ts'
import type { NamesById } from './condition-text.tsx'
import { valueAt } from './value-at.ts'

/** What saving would do, and the names of the groups in it. */
export type NamedPlan = { readonly plan: ChangePlan; readonly groupNames: NamesById }

type PlanNoticesProps = NamedPlan & { readonly condition: WireGroup; readonly collectionNames: NamesById }

/** What a plan warns of, in the person's language. Warnings do not keep anybody from saving. */
export function PlanNotices({ plan: { warnings, links }, condition, collectionNames, groupNames }: PlanNoticesProps) {
  return (
    <div class="notice warn">
      <ul>
        {warnings.filter(isShown).map(({ code, target }) => (
          <li key={`${code} ${target}`}>
            {t(`warning${code}`, { name: collectionNames.get(target) ?? target, ...namedValue(condition, target) })}
          </li>
        ))}
        {links.map(({ linkId, directoryGroupId, pausedBy }) =>
          // An instance of the version before does not send who pauses the removals.
          pausedBy ? (
            <li key={linkId}>
              {groupNames.get(directoryGroupId) ?? directoryGroupId}:{' '}
              {t(`paused${pausedBy.reason}`, { count: pausedBy.count })} {namesOf(pausedBy)}
            </li>
          ) : null,
        )}
      </ul>
    </div>
  )
}

type ShownWarning = PlanWarning & { readonly code: Exclude<PlanWarning['code'], 'RemovalsPaused'> }

const SHOWN_ONCE: readonly PlanWarning['code'][] = ['WouldHold', 'RemovalsResumed']

/**
 * The table of groups has those that would hold or resume removals, so that one warning of them is enough. Groups whose
 * removals are paused have a line with names instead.
 */
function isShown(warning: PlanWarning, index: number, all: readonly PlanWarning[]): warning is ShownWarning {
  const { code } = warning
  if (code === 'RemovalsPaused') return false
  return !SHOWN_ONCE.includes(code) || all.findIndex((other) => other.code === code) === index
}

/** The value that no object has, with its attribute. Nothing for a warning of something else. */
function namedValue(condition: WireGroup, target: string): { readonly value?: string; readonly attribute?: string } {
  const found = valueAt(condition, target)
  return found === undefined ? {} : { value: found.value, attribute: attributeText(found.id) }
}

function namesOf({ count, members }: PausedByDto): string {
  const names = members.map(({ displayName, identityId, directoryObjectId }) => {
    return displayName ?? identityId ?? directoryObjectId ?? t('positionWithoutPerson')
  })
  return [names.join(', '), count > names.length && t('andMore', { count: count - names.length })]
    .filter((text) => text)
    .join(' ')
}
