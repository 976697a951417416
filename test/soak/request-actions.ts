import type { Random } from '../../infra/local/demo/seeded-random.ts'
import { apply, coreIdOf, expectStatus, JOINABLE_PATH, type Organisation, REQUESTS_PATH } from './organisation.ts'
import type { JoinableModel } from './organisation-model.ts'
import { ninOf, payrollNinOf, STAFF_COUNT } from './people-actions.ts'
import { pickOf } from './picks.ts'
import {
  approveAt,
  followPolicy,
  gateOf,
  isOpenOrJoined,
  type ModelPolicy,
  type ModelRequest,
  statusUnder,
} from './request-model.ts'

type RequestAnswer = {
  readonly id: string
  readonly status: string
  readonly lifecycle: readonly { readonly status: string; readonly notes?: string }[]
}

function randomPolicy(random: Random): ModelPolicy {
  const gateCount = random.below(3)
  const staff = Array.from({ length: STAFF_COUNT }, (_, person) => ninOf(person))
  const approvalGates = Array.from({ length: gateCount }, (_, index) => {
    const first = random.below(STAFF_COUNT)
    return { order: index + 1, type: 'Identity' as const, approvers: [...staff.slice(first), ...staff].slice(0, 2) }
  })
  return { approvalRequired: gateCount > 0, approvalGates }
}

/** The policy as the API takes it, with core ids. */
export async function policyBody(organisation: Organisation, { approvalRequired, approvalGates }: ModelPolicy) {
  const gates = approvalGates.map(async ({ approvers, ...gate }) => {
    const ids = await Promise.all(approvers.map((nin) => coreIdOf(organisation, nin)))
    return { ...gate, approvers: ids.filter((id) => id !== undefined) }
  })
  return { approvalRequired, approvalGates: await Promise.all(gates) }
}

export async function createJoinableCollection(organisation: Organisation, random: Random): Promise<void> {
  await organisation.locks.runAlone(async () => {
    const policy = randomPolicy(random)
    const name = organisation.unique('Joinable')
    const { data: id } = await expectStatus<string>(
      organisation,
      {
        token: organisation.callers.writer,
        method: 'POST',
        path: JOINABLE_PATH,
        body: { objectType: 'Identity', name, joinPolicy: await policyBody(organisation, policy) },
        idempotencyKey: name,
      },
      201,
    )
    apply(organisation, () => organisation.model.joinable.set(id, { policy, requests: [] }))
  })
}

export async function editPolicy(organisation: Organisation, random: Random): Promise<void> {
  await organisation.locks.runAlone(async () => {
    const [id, collection] = pickOf(random, [...organisation.model.joinable])
    const policy = randomPolicy(random)
    const body = { objectType: 'Identity', joinPolicy: await policyBody(organisation, policy) }
    const options = { token: organisation.callers.writer, method: 'PUT', path: `${JOINABLE_PATH}/${id}`, body }
    await expectStatus(organisation, options, 200)
    apply(organisation, () => {
      collection.policy = policy
      for (const request of collection.requests) followPolicy(policy, request)
    })
  })
}

/** Something that a person, an approver or an administrator does about a membership. */
export async function actOnMembership(organisation: Organisation, random: Random): Promise<void> {
  const { model, changedNins, locks } = organisation
  const [collectionId, collection] = pickOf(random, [...model.joinable])
  const person = STAFF_COUNT + random.below(organisation.personCount - STAFF_COUNT)
  const nin = random.percent(80) ? ninOf(person) : payrollNinOf(person)
  await locks.run([nin, collectionId], async () => {
    const identity = model.people.identities().get(nin)
    if (identity === undefined || changedNins.has(nin)) return
    const action: MembershipAction = { organisation, collectionId, collection, nin }
    const open = collection.requests.find((request) => request.nin === nin && isOpenOrJoined(request))
    if (open === undefined) {
      if (hasOnePosition(organisation, nin)) return
      if (identity.account === undefined || random.percent(25)) await addDirectly(action)
      else await submit(action, identity.account)
      return
    }
    if (random.percent(15)) await removeDirectly(action, open)
    else if (open.id === undefined) await removeDirectly(action, open)
    else if (open.status === 'Joined') await withdraw(action, open, 'leave', identity.account)
    else if (random.percent(20)) await withdraw(action, open, 'cancel', identity.account)
    else await decide(action, open, random)
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
  decisionNotes: [],
  endedByDeletion: false,
})

async function submit({ organisation, collectionId, collection, nin }: MembershipAction, account: string) {
  const token = await organisation.callers.person(account)
  const path = `${REQUESTS_PATH}/${collectionId}/submit`
  const idempotencyKey = organisation.unique('submission')
  const body = { notes: idempotencyKey }
  const { data } = await expectStatus<RequestAnswer>(
    organisation,
    { token, method: 'POST', path, body, idempotencyKey },
    201,
  )
  const request = newModelRequest(data.id, nin)
  request.status = statusUnder(collection.policy, request)
  apply(organisation, () => collection.requests.push(request))
}

async function addDirectly({ organisation, collectionId, collection, nin }: MembershipAction) {
  const coreId = await coreIdOf(organisation, nin)
  const body = { coreIdentityIds: [coreId] }
  const path = `${JOINABLE_PATH}/${collectionId}/results/members`
  await expectStatus(organisation, { token: organisation.callers.writer, method: 'POST', path, body }, 200)
  apply(organisation, () => collection.requests.push(newModelRequest(undefined, nin)))
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
}

/** Approves or rejects at the current gate, by one of its approvers. */
async function decide(action: MembershipAction, request: ModelRequest, random: Random) {
  const { organisation, collection } = action
  const gate = gateOf(collection.policy, request)
  const identities = organisation.model.people.identities()
  const account = gate && identities.get(pickOf(random, gate.approvers))?.account
  if (gate === undefined || account === undefined) return
  const kind = random.percent(80) ? 'approve' : 'reject'
  const notes = organisation.unique(kind)
  await act(action, request, { kind, account, notes, doneStatus: kind === 'approve' ? 'Approved' : 'Rejected' })
  apply(organisation, () => {
    request.decisionNotes.push(notes)
    if (kind === 'approve') approveAt(collection.policy, request, gate)
    else request.status = 'Rejected'
  })
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
