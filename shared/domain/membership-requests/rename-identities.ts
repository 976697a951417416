import { SYSTEM_ACTOR } from '../../kernel/caller.ts'
import { forEachConcurrent } from '../../kernel/concurrency.ts'
import { retryOnConflict } from '../../kernel/versioned.ts'
import { auditOfCollection } from '../collections/audit-collection.ts'
import type { Collection } from '../collections/collection.ts'
import {
  identitiesInCondition,
  type RenamedIdentities,
  renamedIds,
  withRenamedIdentities,
} from '../criteria/named-identities.ts'
import { applyTransitions, type TransitionDependencies } from './apply-transitions.ts'
import { type ApprovalGate, policyOf } from './join-policy.ts'
import type { Approval, MembershipRequest } from './membership-request.ts'
import type { RequestDependencies } from './request-dependencies.ts'

/** Definitions written at the same time. */
const DEFINITIONS_AT_ONCE_COUNT = 10

/** The ids of identities that a join policy or a condition names. */
export function identitiesNamedBy({ kind, definition }: Pick<Collection, 'kind' | 'definition'>): string[] {
  if (kind === 'joinable')
    return (definition as { approvalGates: ApprovalGate[] }).approvalGates.flatMap(identityApprovers)
  return identitiesInCondition(definition)
}

const identityApprovers = (gate: ApprovalGate): readonly string[] =>
  [gate, gate.fallback ?? []].flat().flatMap(({ type, approvers }) => (type === 'Identity' ? approvers : []))

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
  if (collection.kind !== 'joinable') {
    return withRenamedIdentities(collection.definition, renamed) as Collection['definition']
  }
  const { version: _version, ...policy } = policyOf(collection)
  const renamedIn = <Named extends Pick<ApprovalGate, 'type' | 'approvers'>>(gate: Named): Named =>
    gate.type === 'Identity' ? { ...gate, approvers: renamedIds(gate.approvers, renamed) } : gate
  const approvalGates = policy.approvalGates.map((gate) => ({
    ...renamedIn(gate),
    ...(gate.fallback === undefined ? {} : { fallback: renamedIn(gate.fallback) }),
  }))
  return { ...policy, approvalGates } as Collection['definition']
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
