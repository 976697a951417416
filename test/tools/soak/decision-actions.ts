import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { grantMembership } from './end-model.ts'
import { approverKeys, membershipKeys } from './gate-dependencies.ts'
import {
  apply,
  countOutcome,
  expectStatus,
  type Organisation,
  pickSettled,
  REQUESTS_PATH,
  readWritten,
} from './organisation.ts'
import type { JoinableModel, OrganisationModel } from './organisation-model.ts'
import { pickOf } from './picks.ts'
import { approversAt, isEligible, representedBy } from './policy-model.ts'
import { approveAt, gateOf, type ModelGate, type ModelRequest } from './request-model.ts'
import { isLeader, LEADER_COUNT, ninOf } from './source-items.ts'
import type { Span } from './times.ts'

/** A person who decides on a waiting request, or tries to. */
type Decision = {
  readonly collectionId: string
  readonly collection: JoinableModel
  readonly request: ModelRequest
  readonly gate: ModelGate
  readonly actorNin: string
}

type RequestAnswer = { readonly lifecycle: readonly { readonly status: string; readonly notes?: string }[] }

/**
 * An approver approves or rejects at the current gate, or another person tries. Only where everything that determines
 * the approvers has not changed lately, and does not change meanwhile.
 */
export async function decideOnRequest(organisation: Organisation, random: Random): Promise<void> {
  const picked = pickDecision(organisation, random)
  if (picked === undefined) return
  const { collectionId, request, gate, actorNin } = picked
  const keys = keysOf(organisation.model, picked)
  await organisation.locks.run([...keys], async () => {
    const { model, changedNins, recentChanges } = organisation
    const isSame = request.status === 'PendingApproval' && gateOf(picked.collection.policy, request) === gate
    const isInMotion = changedNins.has(request.nin) || changedNins.has(actorNin) || !recentChanges.isSettled(keys)
    if (!isSame || isInMotion || !keysOf(model, picked).isSubsetOf(keys)) return
    const account = model.people.identities().get(actorNin)?.account
    if (account === undefined || !model.people.identities().has(request.nin)) return
    const refusal = refusalOf(model, picked)
    if (refusal === 'unknown') return
    // The record keeps the former id of a person who was merged.
    const wasInvolved = refusal?.code === 'NotCurrentApprover'
    if (wasInvolved && !isLeader(actorNin)) return
    const kind = random.percent(80) ? 'approve' : 'reject'
    const notes = organisation.unique(kind)
    const token = await organisation.callers.person(account)
    const path = `${REQUESTS_PATH}/${collectionId}/${request.id}`
    const options = { token, method: 'POST', path: `${path}/${kind}`, body: { notes } }
    if (refusal !== undefined) {
      const { errors } = await expectStatus(organisation, options, refusal.status)
      if (errors[0]?.code !== refusal.code)
        throw new Error(
          `${options.path} at gate ${JSON.stringify(gate)}: ${JSON.stringify(errors)}, not ${refusal.code}`,
        )
      countOutcome(organisation, `${gate.type} ${refusal.code}`)
      return
    }
    const began = organisation.times.now()
    const count = await decide(organisation, path, options)
    const at = organisation.times.since(began)
    apply(organisation, () => {
      for (let repetition = 0; repetition < count; repetition += 1) applyDecision(model, picked, { kind, notes, at })
    })
    recentChanges.note(request.nin)
    countOutcome(organisation, `${gate.type} ${kind}: ${request.status}`)
  })
}

function applyDecision(
  model: OrganisationModel,
  { collection, request, actorNin }: Decision,
  { kind, notes, at }: { readonly kind: 'approve' | 'reject'; readonly notes: string; readonly at: Span },
): void {
  request.decisionNotes = [...request.decisionNotes, { text: notes, actorNin }]
  request.deciders.add(actorNin)
  for (const nin of model.deputies.keys()) if (model.deputies.get(nin) === actorNin) request.represented.add(nin)
  if (kind === 'reject') request.status = 'Rejected'
  else {
    const gate = gateOf(collection.policy, request)
    const mayJoin = isEligible(model, collection.policy, request.nin)
    if (gate !== undefined) approveAt(collection.policy, request, gate, mayJoin)
    if (request.status === 'Joined') grantMembership(request, collection.policy, at)
  }
}

/**
 * @returns How often the decision was applied. An attempt without an answer can have been applied: the next one is then
 * refused, or decides at the next gate as well.
 */
async function decide(
  organisation: Organisation,
  path: string,
  options: { readonly token: string; readonly method: string; readonly path: string; readonly body: { notes: string } },
): Promise<number> {
  const reply = await expectStatus(organisation, options, 200, 403, 404, 409)
  if (reply.status === 200 && !reply.isRetry) return 1
  const data = await readWritten<RequestAnswer>(organisation, path)
  const count = data.lifecycle.filter(({ notes }) => notes === options.body.notes).length
  if (count > 0 && reply.isRetry) return count
  throw new Error(
    `${options.path} was refused: ${JSON.stringify(reply.errors)}, the request is ${JSON.stringify(data)}`,
  )
}

/** Who decides on which request: often one whose requester is no longer eligible. */
function pickDecision(organisation: Organisation, random: Random): Decision | undefined {
  const { model, personCount } = organisation
  const waiting = [...model.joinable].flatMap(([collectionId, collection]) =>
    collection.requests.flatMap((request) => {
      const gate = request.status === 'PendingApproval' ? gateOf(collection.policy, request) : undefined
      return gate === undefined || request.id === undefined ? [] : [{ collectionId, collection, request, gate }]
    }),
  )
  if (waiting.length === 0) return undefined
  const members = model.members()
  const ineligible = waiting.filter(
    ({ collection, request }) => !isEligible(model, collection.policy, request.nin, members),
  )
  const candidates = ineligible.length > 0 && random.percent(50) ? ineligible : waiting
  const picked = pickSettled(organisation, random, candidates, ({ request }) => request.nin)
  const approvers = [...approversAt(model, picked.gate, picked.request)]
  const others = [
    picked.request.nin,
    ...picked.request.deciders,
    ...(picked.request.submitterNin === undefined ? [] : [picked.request.submitterNin]),
    ninOf(random.below(LEADER_COUNT)),
    ninOf(random.below(personCount)),
  ]
  const deputies = approvers.flatMap((nin) => model.deputies.get(nin) ?? [])
  if (deputies.length > 0 && random.percent(40)) return { ...picked, actorNin: pickOf(random, deputies) }
  const isRight = approvers.length > 0 && random.percent(65)
  const actorNin = isRight ? pickSettled(organisation, random, approvers, (nin) => nin) : pickOf(random, others)
  return { ...picked, actorNin }
}

/** The refusal of a decision, undefined when the actor is an approver, or the deputy of one. */
function refusalOf(
  model: OrganisationModel,
  { request, gate, actorNin }: Decision,
): { readonly status: number; readonly code: string } | 'unknown' | undefined {
  if (actorNin === request.nin) return { status: 403, code: 'SelfApproval' }
  const approvers = approversAt(model, gate, request)
  if (approvers.has(actorNin)) return undefined
  const represented = representedBy(model, actorNin, approvers)
  if (represented.some((nin) => nin !== request.nin)) return undefined
  // Whether one sees a request who only represents the requester, or was represented there.
  if (represented.length > 0 || request.represented.has(actorNin)) return 'unknown'
  if (request.deciders.has(actorNin) || request.submitterNin === actorNin)
    return { status: 403, code: 'NotCurrentApprover' }
  return { status: 404, code: 'RequestNotFound' }
}

/** Everything on which the result depends. */
function keysOf(
  model: OrganisationModel,
  { collectionId, collection, request, gate, actorNin }: Decision,
): Set<string> {
  const keys = membershipKeys(model, request.nin, collection.policy.joinableBy).add(collectionId)
  const represented = [...model.deputies].flatMap(([nin, deputy]) => (deputy === actorNin ? [nin] : []))
  return [actorNin, ...represented].reduce((all, nin) => all.union(approverKeys(model, gate, request, nin)), keys)
}
