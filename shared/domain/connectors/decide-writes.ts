import { refusalEntry } from '../../kernel/refusals.ts'
import { isMatch } from '../../kernel/versioned.ts'
import { type ConnectorObject, connectorObjectId, dotSegmentFault, referenceIds } from './connector-object.ts'
import type { ConnectorRules } from './connector-rules.ts'
import { possiblyStaleOf } from './former-core-objects.ts'
import type { ObjectWrite } from './object-input.ts'
import { parentFault, parentIn } from './org-tree.ts'
import { deletion, type FormerName, isSameData, placement, renaming, withoutKeys } from './place-object.ts'
import { refused, type WriteContext, type WriteDecision } from './write-decision.ts'

/** Decides on one item. Its only side effect is on the identity resolver, which takes over the decided identities. */
export function decideWrite(write: ObjectWrite, context: WriteContext): WriteDecision {
  const { connectorId, derive } = context
  const id = connectorObjectId({ ...write, connectorId }, derive)
  const stored = context.stored.get(id)
  const live = stored?.value.deletedAtMs === undefined ? stored : undefined
  const isConditional = write.operation === 'replace' || write.operation === 'delete'
  if (isConditional && live !== undefined && !isMatch(live.version, write.ifMatch)) return changedSince(write)
  switch (write.operation) {
    case 'delete':
      return live === undefined ? notFound(write, context.rules, stored?.value) : deletion(live, context)
    case 'rejoin':
      return live === undefined
        ? notFound(write, context.rules)
        : placement(withoutKeys(live.value), live, true, context, { isNew: write.isNew === true })
    case 'replace':
      if (live === undefined) return notFound(write, context.rules)
      break
    case 'create':
      if (live !== undefined) return exists(write)
      break
    case 'recreate':
      if (live !== undefined && !isSameData(live.value, write.data)) return exists(write)
      break
    case 'upsert':
  }
  if (write.objectType !== 'identity' && context.rules.supplements(connectorId)) {
    return refused(refusalEntry('ConnectorSupplementsOnly'))
  }
  const { objectType, externalId, data } = write
  const unnameable = live === undefined ? dotSegmentFault(externalId) : undefined
  if (unnameable !== undefined) return refused(refusalEntry('InvalidValue', unnameable, '/externalId'))
  const former = formerName(write, context)
  if (former?.isLive && live !== undefined) return inUse(write)
  const isRenamed = former !== undefined && live === undefined
  const references = referenceIds({ objectType, connectorId }, data, derive)
  const names = isRenamed ? [id, former.id] : [id]
  const fault = objectType === 'orgUnit' ? parentFault(names, parentIn(references), context.parentOf) : undefined
  if (fault !== undefined) return refused(fault)
  const base = isRenamed ? former.stored : stored
  const { createdAtMs, formerIds = [] } = keptOf(base?.value, context.nowMs)
  const allFormerIds = isRenamed ? [...formerIds, former.id] : formerIds
  const object = {
    ...{ id, connectorId, objectType, externalId, data, references },
    ...(createdAtMs !== undefined && { createdAtMs }),
    ...(allFormerIds.length > 0 && { formerIds: allFormerIds }),
  }
  if (isRenamed) return renaming(object, former, stored?.version, context)
  const decision = placement(object, stored, live !== undefined, context)
  return former?.isFollowed ? { ...decision, renamed: { objectType, externalId, formerId: former.id } } : decision
}

/** What has the former name of an item; undefined when nothing has, or something that is no longer this object. */
function formerName(write: ObjectWrite, { connectorId, derive, stored }: WriteContext): FormerName | undefined {
  const previous = write.operation === 'upsert' ? write.previousExternalId : undefined
  if (previous === undefined) return undefined
  const { objectType, externalId } = write
  const id = connectorObjectId({ connectorId, objectType, externalId: previous }, derive)
  const found = stored.get(id)
  if (found === undefined) return undefined
  const { renamedTo, deletedAtMs } = found.value
  if (renamedTo === undefined) return { id, stored: found, isLive: deletedAtMs === undefined, isFollowed: false }
  const isThis = renamedTo === connectorObjectId({ connectorId, objectType, externalId }, derive)
  return isThis ? { id, stored: found, isLive: false, isFollowed: true } : undefined
}

/** What an object keeps from its stored version. A free name has nothing to keep. */
function keptOf(
  stored: ConnectorObject | undefined,
  nowMs: number,
): Pick<ConnectorObject, 'createdAtMs' | 'formerIds'> {
  return stored === undefined || stored.renamedTo !== undefined ? { createdAtMs: nowMs } : stored
}

const nameOf = ({ objectType, externalId }: ObjectWrite): string => `${objectType} ${externalId}`

function changedSince(write: ObjectWrite): WriteDecision {
  const message = `The object ${nameOf(write)} has changed since the version in If-Match`
  return refused(refusalEntry('PreconditionFailed', message))
}

function inUse(write: ObjectWrite): WriteDecision {
  return refused(
    refusalEntry('ExternalIdInUse', `The object ${nameOf(write)} and the one of its former name both exist`),
  )
}

function exists(write: ObjectWrite): WriteDecision {
  return refused(refusalEntry('ConnectorObjectExists', `The object ${nameOf(write)} already exists`))
}

/** @param deleted The soft-deleted object of the same names, if any. */
function notFound(write: ObjectWrite, rules: ConnectorRules, deleted?: ConnectorObject): WriteDecision {
  const refusal = refused(refusalEntry('ConnectorObjectNotFound', `There is no object ${nameOf(write)}`))
  return deleted === undefined ? refusal : { ...refusal, possiblyStale: possiblyStaleOf(deleted, rules) }
}
