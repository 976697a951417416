import type { WireGroup, WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { AuditEntry } from '../../../shared/domain/insight/list-audit.ts'
import { type Api, withCursor } from '../api.ts'
import { LeafText, type NamesById } from '../condition/condition-text.tsx'
import { readConditionNames } from '../condition/named-condition.tsx'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'

type Cause = NonNullable<NonNullable<GroupLinkDto['heldRemovals']>['cause']>

/** A change of a definition: what was replaced by what, and the version before. */
type DefinitionChange = {
  readonly before: readonly WireLeaf[]
  readonly after: readonly WireLeaf[]
  readonly names: NamesById
  readonly formerVersion: string | undefined
}

/** What the change was that caused something, and how it can be undone. Nothing where data changed. */
export function CausingChange({ cause }: { readonly cause: Cause }) {
  const { api } = useConsole()
  const { kind, collectionId, at } = cause
  const change = useResource(`${collectionId} ${at}`, (signal) =>
    kind === 'DefinitionChanged' ? readChange(cause, api, signal) : Promise.resolve(undefined),
  )
  if (kind === 'ReferencedCollection') {
    return (
      <p>
        <a href={hrefOf(`/collections/${collectionId}/history`)}>{t('history')}</a>
      </p>
    )
  }
  if (change.value === undefined) return null
  const { before, after, names, formerVersion } = change.value
  return (
    <>
      {before.length + after.length > 0 && (
        <div class="versions">
          <Leaves title={t('before')} leaves={before} names={names} />
          <Leaves title={t('after')} leaves={after} names={names} />
        </div>
      )}
      {formerVersion !== undefined && (
        <a class="button" href={hrefOf(`/collections/${collectionId}/restore/${formerVersion}`)}>
          {t('undoChange')}
        </a>
      )}
    </>
  )
}

type LeavesProps = { readonly title: string; readonly leaves: readonly WireLeaf[]; readonly names: NamesById }

function Leaves({ title, leaves, names }: LeavesProps) {
  if (leaves.length === 0) return null
  return (
    <div>
      <p class="faint">{title}</p>
      {leaves.map((leaf) => (
        <p key={JSON.stringify(leaf)}>
          <LeafText leaf={leaf} names={names} />
        </p>
      ))}
    </div>
  )
}

const ENTRIES_PER_PAGE = 100

/** The newest change of the condition that is not newer than what it caused. */
async function readChange(
  { collectionId, at }: Cause,
  api: Api,
  signal: AbortSignal,
): Promise<DefinitionChange | undefined> {
  const path = `/collections/beta/${collectionId}/audit?pageSize=${ENTRIES_PER_PAGE}`
  let change: AuditEntry | undefined
  let cursor: string | undefined
  do {
    const { items, nextCursor } = await api.page<AuditEntry>(withCursor(path, cursor), signal)
    for (const entry of items) {
      if (entry.version === null) continue
      if (change !== undefined) return changeOf(change, entry.version, api, signal)
      if (Date.parse(entry.at) <= Date.parse(at) && 'condition' in entry.before) change = entry
    }
    cursor = nextCursor
  } while (cursor !== undefined)
  return change && changeOf(change, undefined, api, signal)
}

async function changeOf(
  { before, after }: AuditEntry,
  formerVersion: string | undefined,
  api: Api,
  signal: AbortSignal,
): Promise<DefinitionChange> {
  const [former, latter] = [leavesOf(before.condition), leavesOf(after.condition)]
  const [gone, come] = [without(former, latter), without(latter, former)]
  const names = await readConditionNames({ groupOperator: 'AND', conditions: [...gone, ...come] }, api, signal)
  return { before: gone, after: come, names, formerVersion }
}

/** None of a condition that is too long for the audit. */
function leavesOf(condition: unknown): WireLeaf[] {
  if (typeof condition !== 'object' || condition === null || !('conditions' in condition)) return []
  return (condition as WireGroup).conditions.flatMap((node) => ('groupOperator' in node ? leavesOf(node) : [node]))
}

function without(leaves: readonly WireLeaf[], others: readonly WireLeaf[]): WireLeaf[] {
  const texts = new Set(others.map((leaf) => JSON.stringify(leaf)))
  return leaves.filter((leaf) => !texts.has(JSON.stringify(leaf)))
}
