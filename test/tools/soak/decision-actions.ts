import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { type Decision, type DecisionRefusal, type DueDecision, decideAlone, decideTogether } from './decision-calls.ts'
import { grantMembership, mayHaveEnded, noteThatMayHaveEnded } from './end-model.ts'
import { approveExtension } from './extension-model.ts'
import { approverKeys, managerKeys, membershipKeys } from './gate-dependencies.ts'
import { managersOf } from './manager-model.ts'
import { apply, countOutcome, type Organisation, pickSettled } from './organisation.ts'
import type { JoinableModel, OrganisationModel } from './organisation-model.ts'
import { pickOf } from './picks.ts'
import { approversAt, isEligible, representedBy } from './policy-model.ts'
import { approveAt, waitingGateOf } from './request-model.ts'
import { isLeader, LEADER_COUNT, ninOf } from './source-items.ts'
import type { Span } from './times.ts'

/** How many requests a person decides on together. */
const TOGETHER_COUNT = 4

/**
 * A person approves or rejects at the current gates of some requests or extensions, or tries to. Only where everything
 * that determines the approvers has not changed lately, and does not change meanwhile.
 */
export async function decideOnRequests(organisation: Organisation, random: Random): Promise<void> {
  const picked = pickDecisions(organisation, random)
  const [first] = picked
  if (first === undefined) return
  const { model } = organisation
  const keysBy = picked.map((decision) => keysOf(model, decision))
  const keys = keysBy.reduce((all, each) => all.union(each), new Set<string>())
  await organisation.locks.run([...keys], async () => {
    const account = model.people.identities().get(first.actorNin)?.account
    if (account === undefined) return
    const due = picked.flatMap((decision, index): DueDecision[] => {
      const refusal = expectedRefusal(organisation, decision, keysBy[index] ?? new Set())
      if (refusal === 'unknown') return []
      const kind = random.percent(80) ? 'approve' : 'reject'
      return [{ ...decision, refusal, kind, notes: organisation.unique(kind) }]
    })
    if (due.length === 0) return
    const token = await organisation.callers.person(account)
    const began = organisation.times.now()
    const counts = await (due.length === 1 && random.percent(70) ? decideAlone : decideTogether)(
      organisation,
      token,
      due,
    )
    const at = organisation.times.since(began)
    for (const [index, decision] of due.entries()) noteDecision(organisation, decision, counts[index] ?? 0, at)
  })
}

/** The refusal of the decision now, unknown where something on which it depends changes or has changed lately. */
function expectedRefusal(
  { model, changedNins, recentChanges }: Organisation,
  decision: Decision,
  keys: ReadonlySet<string>,
): DecisionRefusal | 'unknown' | undefined {
  const { request, collection, gate, actorNin } = decision
  const isSame = waitingGateOf(collection.policy, request) === gate && model.people.identities().has(request.nin)
  const isInMotion = changedNins.has(request.nin) || changedNins.has(actorNin) || !recentChanges.isSettled(keys)
  if (!isSame || isInMotion || !keysOf(model, decision).isSubsetOf(keys)) return 'unknown'
  const refusal = refusalOf(model, decision)
  // The record keeps the former id of a person who was merged.
  const wasInvolved = refusal !== 'unknown' && refusal?.code === 'NotCurrentApprover'
  return wasInvolved && !isLeader(actorNin) ? 'unknown' : refusal
}

/** @param count How often it was applied. */
function noteDecision(organisation: Organisation, decision: DueDecision, count: number, at: Span): void {
  const { request, gate, kind, refusal } = decision
  const what = request.status === 'Joined' ? `extension at ${gate.type}` : gate.type
  if (refusal !== undefined) {
    countOutcome(organisation, `${what} ${refusal.code}`)
    return
  }
  apply(organisation, () => {
    for (let repetition = 0; repetition < count; repetition += 1) applyDecision(organisation.model, decision, at)
    // A membership whose end is past stays only while its extension waits.
    if (mayHaveEnded(request, decision.collection.policy, at)) {
      noteThatMayHaveEnded(request)
      organisation.changedNins.add(request.nin)
    }
  })
  organisation.recentChanges.note(request.nin)
  countOutcome(organisation, `${what} ${kind}: ${request.status}`)
}

function applyDecision(
  model: OrganisationModel,
  { collection: { policy }, request, actorNin, kind, notes }: DueDecision,
  at: Span,
): void {
  request.decisionNotes = [...request.decisionNotes, { text: notes, actorNin }]
  request.deciders.add(actorNin)
  for (const nin of model.deputies.keys()) if (model.deputies.get(nin) === actorNin) request.represented.add(nin)
  const isExtension = request.status === 'Joined'
  if (kind === 'reject') {
    if (isExtension) request.extension = undefined
    else request.status = 'Rejected'
    return
  }
  const gate = waitingGateOf(policy, request)
  if (gate === undefined) return
  const mayJoin = isEligible(model, policy, request.nin)
  if (isExtension) approveExtension(policy, request, gate, mayJoin)
  else {
    approveAt(policy, request, gate, mayJoin)
    if (request.status === 'Joined') grantMembership(request, policy, at)
  }
}

/** What one person decides on: often requests whose requester is no longer eligible. No two are of one person. */
function pickDecisions(organisation: Organisation, random: Random): Decision[] {
  const { model, personCount } = organisation
  const waiting = [...model.joinable].flatMap(([collectionId, collection]) =>
    collection.requests.flatMap((request) => {
      const gate = waitingGateOf(collection.policy, request)
      // A changed policy may have brought it to another gate, where it is not eligible.
      const isOpen = request.alternatives.includes('Cancelled')
      return gate === undefined || request.id === undefined || isOpen
        ? []
        : [{ collectionId, collection, request, gate }]
    }),
  )
  if (waiting.length === 0) return []
  const members = model.members()
  const ineligible = waiting.filter(
    ({ collection, request }) => !isEligible(model, collection.policy, request.nin, members),
  )
  const extensions = waiting.filter(({ request }) => request.status === 'Joined')
  const chance = random.below(100)
  const preferred = chance < 45 ? ineligible : chance < 65 ? extensions : []
  const candidates = preferred.length > 0 ? preferred : waiting
  const picked = pickSettled(organisation, random, candidates, ({ request }) => request.nin)
  const approvers = [...approversAt(model, picked.gate, picked.request, members)]
  const others = [
    picked.request.nin,
    ...picked.request.deciders,
    ...(picked.request.submitterNin === undefined ? [] : [picked.request.submitterNin]),
    ninOf(random.below(LEADER_COUNT)),
    ninOf(random.below(personCount)),
  ]
  const deputies = approvers.flatMap((nin) => model.deputies.get(nin) ?? [])
  const isRight = approvers.length > 0 && random.percent(65)
  const approver = isRight ? pickSettled(organisation, random, approvers, (nin) => nin) : pickOf(random, others)
  const actorNin = deputies.length > 0 && random.percent(40) ? pickOf(random, deputies) : approver
  const decisions = [{ ...picked, actorNin }]
  const count = random.percent(40) ? TOGETHER_COUNT : 1
  for (const each of waiting.toSorted(() => random.next() - 0.5)) {
    const isOther = decisions.every(({ request }) => request.nin !== each.request.nin)
    const isTheirs = approversAt(model, each.gate, each.request, members).has(actorNin)
    if (decisions.length < count && isOther && (isTheirs || random.percent(20))) decisions.push({ ...each, actorNin })
  }
  return decisions
}

/** The refusal of a decision, undefined when the actor is an approver, or the deputy of one. */
function refusalOf(
  model: OrganisationModel,
  { collection, request, gate, actorNin }: Decision,
): DecisionRefusal | 'unknown' | undefined {
  if (actorNin === request.nin) return { status: 403, code: 'SelfApproval' }
  const approvers = approversAt(model, gate, request)
  if (approvers.has(actorNin)) return undefined
  const represented = representedBy(model, actorNin, approvers)
  if (represented.some((nin) => nin !== request.nin)) return undefined
  // Whether one sees a request who only represents the requester, or was represented there.
  if (represented.length > 0 || request.represented.has(actorNin)) return 'unknown'
  // A manager who decides at a gate, now or later, sees the request.
  const isManager = hasManagerGate(collection) && managersOf(model.people, request).has(actorNin)
  if (request.deciders.has(actorNin) || request.submitterNin === actorNin || isManager)
    return { status: 403, code: 'NotCurrentApprover' }
  return { status: 404, code: 'RequestNotFound' }
}

const hasManagerGate = ({ policy }: JoinableModel): boolean =>
  policy.approvalRequired && policy.approvalGates.some(({ type }) => type === 'Manager')

/** Everything on which the result depends. */
function keysOf(
  model: OrganisationModel,
  { collectionId, collection, request, gate, actorNin }: Decision,
): Set<string> {
  const managers = hasManagerGate(collection) ? managerKeys(model, request) : new Set<string>()
  const keys = membershipKeys(model, request.nin, collection.policy.joinableBy).union(managers).add(collectionId)
  const represented = [...model.deputies].flatMap(([nin, deputy]) => (deputy === actorNin ? [nin] : []))
  return [actorNin, ...represented].reduce((all, nin) => all.union(approverKeys(model, gate, request, nin)), keys)
}
