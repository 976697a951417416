import type { Random } from '../../infra/local/demo/seeded-random.ts'
import { approversAt } from './approver-model.ts'
import { approverKeys } from './gate-dependencies.ts'
import {
  apply,
  coreIdOf,
  countOutcome,
  expectStatus,
  JOINABLE_PATH,
  type Organisation,
  REQUESTS_PATH,
} from './organisation.ts'
import type { JoinableModel } from './organisation-model.ts'
import { ninOf, payrollNinOf, STAFF_COUNT } from './people-actions.ts'
import { pickOf } from './picks.ts'
import { firstGate, isOpenOrJoined, type ModelPolicy, type ModelRequest, statusUnder } from './request-model.ts'

type RequestAnswer = {
  readonly id: string
  readonly status: string
  readonly lifecycle: readonly { readonly status: string; readonly notes?: string }[]
}

/** Something that a person or an administrator does about a membership. */
export async function actOnMembership(organisation: Organisation, random: Random): Promise<void> {
  const { model, changedNins, locks } = organisation
  const [collectionId, collection] = pickOf(random, [...model.joinable])
  const person = STAFF_COUNT + random.below(organisation.personCount - STAFF_COUNT)
  const nin = random.percent(80) ? ninOf(person) : payrollNinOf(person)
  const first = firstApprover(organisation, collection.policy, nin, random)
  await locks.run([nin, collectionId, ...first.keys], async () => {
    const identity = model.people.identities().get(nin)
    if (identity === undefined || changedNins.has(nin)) return
    const action: MembershipAction = { organisation, collectionId, collection, nin }
    const open = collection.requests.find((request) => request.nin === nin && isOpenOrJoined(request))
    if (open === undefined) {
      if (hasOnePosition(organisation, nin)) return
      if (identity.account === undefined || random.percent(25)) await addDirectly(action)
      else await submit(action, identity.account, first)
      return
    }
    if (random.percent(15)) await removeDirectly(action, open)
    else if (open.id === undefined) await removeDirectly(action, open)
    else if (open.status === 'Joined') await withdraw(action, open, 'leave', identity.account)
    else if (random.percent(20)) await withdraw(action, open, 'cancel', identity.account)
  })
}

/**
 * A membership of somebody with one position is recorded for that position, and then counts only for the rows of that
 * position: decisions, section 10. When the service notices that the position ended decides whether it still is
 * recorded.
 */
function hasOnePosition({ model }: Organisation, nin: string): boolean {
  return model.people.rows().filter((row) => row.identity?.nin === nin && row.relationship !== undefined).length === 1
}

type MembershipAction = {
  readonly organisation: Organisation
  readonly collectionId: string
  readonly collection: JoinableModel
  readonly nin: string
}

const newModelRequest = (id: string | undefined, nin: string): ModelRequest => ({
  id,
  nin,
  formerNin: undefined,
  status: 'Joined',
  alternatives: [],
  unnoticed: [],
  approvedGates: [],
  deciders: new Set(),
  decisionNotes: [],
  endedByDeletion: false,
})

/** Somebody who can decide at the first gate on a request of a person; undefined where nobody but the person can. */
type FirstApprover = { readonly nin: string | undefined; readonly keys: ReadonlySet<string> }

function firstApprover({ model }: Organisation, policy: ModelPolicy, nin: string, random: Random): FirstApprover {
  const gate = firstGate(policy)
  // The approvers whom a policy names never leave.
  if (gate === undefined || gate.type === 'Identity') return { nin: undefined, keys: new Set() }
  const others = [...approversAt(model, gate, { nin })].filter((each) => each !== nin)
  const approverNin = others.length === 0 ? undefined : pickOf(random, others)
  return { nin: approverNin, keys: approverKeys(model, gate, { nin }, approverNin ?? nin) }
}

/** Whether a request is accepted; undefined where something on which it depends is too recent. */
function isAccepted(
  { model, recentChanges, changedNins }: Organisation,
  policy: ModelPolicy,
  nin: string,
  first: FirstApprover,
): boolean | 'perhaps' | undefined {
  const gate = firstGate(policy)
  if (gate === undefined || gate.type === 'Identity') return true
  const keys = approverKeys(model, gate, { nin }, first.nin ?? nin)
  if (!keys.isSubsetOf(first.keys) || !recentChanges.isSettled(keys)) return undefined
  const approvers = approversAt(model, gate, { nin })
  if (first.nin !== undefined) return approvers.has(first.nin) && !changedNins.has(first.nin) ? true : undefined
  if (approvers.difference(new Set([nin])).size > 0) return undefined
  // Other people can become members of the approver collection meanwhile.
  return gate.type === 'Collection' ? 'perhaps' : false
}

async function submit(
  { organisation, collectionId, collection, nin }: MembershipAction,
  account: string,
  first: FirstApprover,
) {
  const accepted = isAccepted(organisation, collection.policy, nin, first)
  if (accepted === undefined) return
  const token = await organisation.callers.person(account)
  const path = `${REQUESTS_PATH}/${collectionId}/submit`
  const idempotencyKey = organisation.unique('submission')
  const body = { notes: idempotencyKey }
  const options = { token, method: 'POST', path, body, idempotencyKey }
  const statuses = [...(accepted === false ? [] : [201]), ...(accepted === true ? [] : [409])]
  const { status, data, errors } = await expectStatus<RequestAnswer>(organisation, options, ...statuses)
  if (status === 409) {
    if (errors[0]?.code !== 'NoApprover') throw new Error(`${path}: ${JSON.stringify(errors)}, not NoApprover`)
    countOutcome(organisation, 'NoApprover')
    return
  }
  const request = newModelRequest(data.id, nin)
  request.status = statusUnder(collection.policy, request)
  apply(organisation, () => collection.requests.push(request))
  organisation.recentChanges.note(nin)
}

async function addDirectly({ organisation, collectionId, collection, nin }: MembershipAction) {
  const coreId = await coreIdOf(organisation, nin)
  const body = { coreIdentityIds: [coreId] }
  const path = `${JOINABLE_PATH}/${collectionId}/results/members`
  await expectStatus(organisation, { token: organisation.callers.writer, method: 'POST', path, body }, 200)
  apply(organisation, () => collection.requests.push(newModelRequest(undefined, nin)))
  organisation.recentChanges.note(nin)
}

/** Ends a membership. What waits for approval stays. */
async function removeDirectly({ organisation, collectionId, nin }: MembershipAction, request: ModelRequest) {
  const coreId = await coreIdOf(organisation, nin)
  const body = { coreIdentityIds: [coreId] }
  const path = `${JOINABLE_PATH}/${collectionId}/results/members`
  await expectStatus(organisation, { token: organisation.callers.writer, method: 'DELETE', path, body }, 200)
  apply(organisation, () => {
    if (request.status === 'Joined') request.status = 'Left'
  })
  organisation.recentChanges.note(nin)
}

async function withdraw(
  action: MembershipAction,
  request: ModelRequest,
  kind: 'leave' | 'cancel',
  account: string | undefined,
) {
  if (account === undefined) return
  const status = kind === 'leave' ? 'Left' : 'Cancelled'
  await act(action, request, { kind, account, doneStatus: status })
  apply(action.organisation, () => {
    request.status = status
  })
  action.organisation.recentChanges.note(action.nin)
}

type RequestAct = {
  readonly kind: 'approve' | 'reject' | 'cancel' | 'leave'
  readonly account: string
  readonly notes?: string
  /** The status in the lifecycle that shows that an attempt without an answer was applied. */
  readonly doneStatus: string
}

/** @throws Error unless the action was applied, by this attempt or by an earlier one that got no answer */
async function act(
  { organisation, collectionId }: MembershipAction,
  { id }: ModelRequest,
  { kind, account, notes, doneStatus }: RequestAct,
) {
  const path = `${REQUESTS_PATH}/${collectionId}/${id}`
  const token = await organisation.callers.person(account)
  const body = notes === undefined ? {} : { notes }
  const options = { token, method: 'POST', path: `${path}/${kind}`, body }
  const reply = await expectStatus(organisation, options, 200, 409, 403)
  if (reply.status === 200) return
  const { data } = await expectStatus<RequestAnswer>(
    organisation,
    { token: organisation.callers.writer, method: 'GET', path },
    200,
  )
  const isDone = data.lifecycle.some((entry) => entry.status === doneStatus && entry.notes === notes)
  if (isDone && reply.isRetry) return
  throw new Error(
    `${kind} of ${path} was refused: ${JSON.stringify(reply.errors)}, the request is ${JSON.stringify(data)}`,
  )
}
