import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { AuditEntry } from '../../../shared/domain/insight/list-audit.ts'
import type { Api } from '../api.ts'
import { type ChangedPart, changedPart, type Node } from '../condition/changed-part.ts'
import { type NamesById, NodeText } from '../condition/condition-text.tsx'
import { readConditionNames } from '../condition/named-condition.tsx'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'

type Cause = NonNullable<NonNullable<GroupLinkDto['heldRemovals']>['cause']>

/** A change of a definition: what was replaced by what, and the version before. */
type DefinitionChange = {
  readonly parts: ChangedPart | undefined
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
  const { parts, names, formerVersion } = change.value
  return (
    <>
      {parts !== undefined && (
        <div class="versions">
          <Part title={t('before')} node={parts.before} names={names} />
          <Part title={t('after')} node={parts.after} names={names} />
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

type PartProps = { readonly title: string; readonly node: Node; readonly names: NamesById }

function Part({ title, node, names }: PartProps) {
  return (
    <div>
      <p class="faint">{title}</p>
      <NodeText node={node} names={names} />
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
  for await (const entry of api.each<AuditEntry>(path, signal)) {
    if (entry.version === null) continue
    if (change !== undefined) return changeOf(change, entry.version, api, signal)
    if (Date.parse(entry.at) <= Date.parse(at) && 'condition' in entry.before) change = entry
  }
  return change && changeOf(change, undefined, api, signal)
}

async function changeOf(
  { before, after }: AuditEntry,
  formerVersion: string | undefined,
  api: Api,
  signal: AbortSignal,
): Promise<DefinitionChange> {
  const parts =
    isCondition(before.condition) && isCondition(after.condition)
      ? changedPart(before.condition, after.condition)
      : undefined
  const conditions = parts === undefined ? [] : [parts.before, parts.after]
  return { parts, names: await readConditionNames({ groupOperator: 'AND', conditions }, api, signal), formerVersion }
}

/** A condition that is too long for the audit is none. */
function isCondition(value: unknown): value is WireGroup {
  return typeof value === 'object' && value !== null && 'conditions' in value
}
