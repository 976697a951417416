import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import { forEachConcurrent } from '../../kernel/concurrency.ts'
import { retryOnConflict } from '../../kernel/versioned.ts'
import { auditOfCollection } from '../collections/audit-collection.ts'
import type { Collection } from '../collections/collection.ts'
import { schemaName } from '../core/attribute-names.ts'
import { applyTransitions, type TransitionDependencies } from './apply-transitions.ts'
import { type ApprovalGate, policyOf } from './join-policy.ts'
import type { Approval, MembershipRequest } from './membership-request.ts'
import type { RequestDependencies } from './request-dependencies.ts'

/** The identity that remains, by the id of each identity that was merged into it. */
export type RenamedIdentities = ReadonlyMap<string, string>

/** The fields of conditions whose values are ids of identities. */
const IDENTITY_FIELDS: ReadonlySet<unknown> = new Set([
  schemaName('identity', 'id'),
  schemaName('relationship', 'identity'),
  schemaName('relationship', 'manager'),
  schemaName('orgUnit', 'manager'),
  schemaName('orgUnit', 'deputies'),
])

/** Definitions written at the same time. */
const DEFINITIONS_AT_ONCE_COUNT = 10

/** The ids of identities that a join policy or a condition names. */
export function identitiesNamedBy({ kind, definition }: Pick<Collection, 'kind' | 'definition'>): string[] {
  if (kind === 'joinable')
    return (definition as { approvalGates: ApprovalGate[] }).approvalGates.flatMap(identityApprovers)
  return leavesNamingIdentities(definition)
    .flatMap(({ value }) => [value].flat())
    .map((value) => String(value).toLowerCase())
}

const identityApprovers = (gate: ApprovalGate): readonly string[] =>
  [gate, gate.fallback ?? []].flat().flatMap(({ type, approvers }) => (type === 'Identity' ? approvers : []))

type Leaf = { readonly id: unknown; readonly value?: unknown }

function leavesNamingIdentities(node: unknown): Leaf[] {
  const { conditions, id } = node as { conditions?: unknown[]; id?: unknown }
  if (Array.isArray(conditions)) return conditions.flatMap(leavesNamingIdentities)
  return IDENTITY_FIELDS.has(id) ? [node as Leaf] : []
}

/**
 * Puts the identities that remain in the place of merged ones, in join policies and conditions.
 * Repeating the call has no further effect.
 * @param collections Collections of the tenant; those that name none of the identities are not read again.
 * @returns Whether a definition was changed.
 */
export async function renameInDefinitions(
  collections: readonly Collection[],
  renamed: RenamedIdentities,
  deps: Pick<RequestDependencies, 'collections' | 'newId' | 'nowMs'> & TransitionDependencies,
): Promise<boolean> {
  const affected = collections.filter((collection) => identitiesNamedBy(collection).some((id) => renamed.has(id)))
  await forEachConcurrent(affected, DEFINITIONS_AT_ONCE_COUNT, async ({ tenantId, id, kind }) => {
    // Before the policy: after an interruption the policy still names the merged identities, and this is repeated.
    if (kind === 'joinable') await renameInApprovals(tenantId, id, renamed, deps)
    await retryOnConflict(async () => {
      const found = await deps.collections.find(tenantId, id)
      if (found === undefined) return
      const { value, version } = found
      const definition = renamedDefinition(value, renamed)
      if (JSON.stringify(definition) === JSON.stringify(value.definition)) return
      const definitionVersion = value.definitionVersion + 1
      const after = { ...value, definition, definitionVersion, definedBy: SYSTEM_ACTOR }
      const audit = auditOfCollection('Updated', value, after, SYSTEM_ACTOR, deps)
      await deps.collections.replace(after, version, undefined, audit)
    })
  })
  return affected.length > 0
}

function renamedDefinition(collection: Collection, renamed: RenamedIdentities): Collection['definition'] {
  if (collection.kind !== 'joinable') return renamedNode(collection.definition, renamed) as Collection['definition']
  const { version: _version, ...policy } = policyOf(collection)
  const renamedIn = <Named extends Pick<ApprovalGate, 'type' | 'approvers'>>(gate: Named): Named =>
    gate.type === 'Identity' ? { ...gate, approvers: renamedIds(gate.approvers, renamed) } : gate
  const approvalGates = policy.approvalGates.map((gate) => ({
    ...renamedIn(gate),
    ...(gate.fallback === undefined ? {} : { fallback: renamedIn(gate.fallback) }),
  }))
  return { ...policy, approvalGates } as Collection['definition']
}

function renamedNode(node: unknown, renamed: RenamedIdentities): unknown {
  const { conditions, id, value } = node as { conditions?: unknown[]; id?: unknown; value?: unknown }
  if (Array.isArray(conditions)) {
    return { ...(node as object), conditions: conditions.map((child) => renamedNode(child, renamed)) }
  }
  if (!IDENTITY_FIELDS.has(id) || value === undefined) return node
  if (Array.isArray(value)) return { ...(node as object), value: renamedIds(value.map(String), renamed) }
  return { ...(node as object), value: renamed.get(String(value).toLowerCase()) ?? value }
}

/** Each id once, in the order of their first places. */
function renamedIds(ids: readonly string[], renamed: RenamedIdentities): string[] {
  return [...new Set(ids.map((id) => renamed.get(id.toLowerCase()) ?? id))]
}

/** The approvers of approvals, and of the gates where requests wait, are renamed with those of the policy. */
async function renameInApprovals(
  tenantId: string,
  collectionId: string,
  renamed: RenamedIdentities,
  deps: TransitionDependencies,
): Promise<void> {
  const waiting = await deps.requests.allWaitingIn(tenantId, collectionId)
  await applyTransitions(
    waiting,
    (request) => {
      const { extension } = request
      const after: MembershipRequest = {
        ...renamedApprovers(request, renamed),
        ...(extension === undefined ? {} : { extension: renamedApprovers(extension, renamed) }),
      }
      if (JSON.stringify(after) === JSON.stringify(request)) return { outcome: 'unchanged' }
      return { outcome: 'next', request: after }
    },
    deps,
  )
}

function renamedApprovers<Part extends Pick<MembershipRequest, 'approvals' | 'gateApprovers'>>(
  part: Part,
  renamed: RenamedIdentities,
): Part {
  const { approvals, gateApprovers } = part
  const renamedIn = (approval: Approval) => ({ ...approval, approvers: renamedIds(approval.approvers, renamed) })
  return {
    ...part,
    ...(approvals === undefined ? {} : { approvals: approvals.map(renamedIn) }),
    ...(gateApprovers === undefined ? {} : { gateApprovers: renamedIds(gateApprovers, renamed) }),
  }
}
