import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { grantMembership } from './end-model.ts'
import { positionsOf } from './manager-model.ts'
import {
  apply,
  coreIdOf,
  corePositionIdOf,
  expectStatus,
  JOINABLE_PATH,
  type Organisation,
  pickSettled,
  REQUESTS_PATH,
  readWritten,
} from './organisation.ts'
import type { JoinableModel } from './organisation-model.ts'
import { pickOf } from './picks.ts'
import { isOpenOrJoined, type ModelRequest } from './request-model.ts'
import { isStaff, ninOf, payrollNinOf, STAFF_COUNT } from './source-items.ts'
import {
  askedEnd,
  endBody,
  newModelRequest,
  newSubmission,
  possibleResults,
  type SoakSubmission,
  sendSubmission,
  submissionKeys,
  usualSubject,
} from './submissions.ts'

type RequestAnswer = {
  readonly id: string
  readonly status: string
  readonly lifecycle: readonly { readonly status: string }[]
}

/** Something that a person or an administrator does about a membership. */
export async function actOnMembership(organisation: Organisation, random: Random): Promise<void> {
  const { model, changedNins, locks } = organisation
  const [collectionId, collection] = pickOf(random, [...model.joinable])
  const nin = pickSettled(organisation, random, somePeople(organisation, random), (each) => each)
  const [named] = random.percent(40) ? positionsOf(model.people, nin).keys() : []
  const subject = named === undefined ? usualSubject(model, nin) : { nin, position: named }
  const submission = newSubmission(organisation, collectionId, subject, random)
  const keys = submissionKeys(model, submission).add(nin)
  await locks.run([...keys], async () => {
    const identity = model.people.identities().get(nin)
    if (identity === undefined || changedNins.has(nin)) return
    const action: MembershipAction = { organisation, collectionId, collection, nin }
    const open = collection.requests.find((request) => request.nin === nin && isOpenOrJoined(request))
    if (open === undefined) {
      if (identity.account === undefined || random.percent(25)) await addDirectly(action, random)
      else await submit(action, identity.account, submission, keys, named, random)
      return
    }
    if (random.percent(15)) await removeDirectly(action, open)
    else if (open.id === undefined) await removeDirectly(action, open)
    else if (open.status === 'Joined') {
      if (random.percent(50)) await withdraw(action, open, 'leave', identity.account)
    } else if (random.percent(20)) await withdraw(action, open, 'cancel', cancellingAccount(action, open, random))
  })
}

/** A few people who come and go. */
function somePeople({ personCount }: Organisation, random: Random): string[] {
  return Array.from({ length: 5 }, () => {
    const person = STAFF_COUNT + random.below(personCount - STAFF_COUNT)
    return random.percent(80) ? ninOf(person) : payrollNinOf(person)
  })
}

type MembershipAction = {
  readonly organisation: Organisation
  readonly collectionId: string
  readonly collection: JoinableModel
  readonly nin: string
}

/** @param named The position that the request names. */
async function submit(
  { organisation }: MembershipAction,
  account: string,
  submission: SoakSubmission,
  keys: ReadonlySet<string>,
  named: string | undefined,
  random: Random,
) {
  const results = possibleResults(organisation, submission, keys)
  if (results === undefined) return
  const body = named === undefined ? {} : { relationshipId: await corePositionIdOf(organisation, named) }
  await sendSubmission(organisation, submission, { account, submitterNin: undefined, body }, results, random)
}

/** Where the positions of the person changed lately, it is not certain yet for which one the membership is. */
async function addDirectly({ organisation, collectionId, collection, nin }: MembershipAction, random: Random) {
  if (!organisation.recentChanges.isSettled([nin])) return
  const coreId = await coreIdOf(organisation, nin)
  const { times } = organisation
  const began = times.now()
  const askedEndMs = askedEnd(organisation, random)
  const body = { coreIdentityIds: [coreId], ...endBody(askedEndMs) }
  const path = `${JOINABLE_PATH}/${collectionId}/results/members`
  await expectStatus(organisation, { token: organisation.callers.writer, method: 'POST', path, body }, 200)
  const created = times.since(began)
  const request = newModelRequest(undefined, usualSubject(organisation.model, nin), { created, askedEndMs })
  grantMembership(request, collection.policy, created)
  apply(organisation, () => collection.requests.push(request))
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

/** Of the subject, or of a member of staff who submitted the request. */
function cancellingAccount(
  { organisation, nin }: MembershipAction,
  { submitterNin }: ModelRequest,
  random: Random,
): string | undefined {
  const isByStaff = submitterNin !== undefined && isStaff(submitterNin) && random.percent(50)
  return organisation.model.people.identities().get(isByStaff ? submitterNin : nin)?.account
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
  readonly kind: 'cancel' | 'leave'
  readonly account: string
  /** The status in the lifecycle that shows that an attempt without an answer was applied. */
  readonly doneStatus: string
}

/** @throws Error unless the action was applied, by this attempt or by an earlier one that got no answer */
async function act(
  { organisation, collectionId }: MembershipAction,
  { id }: ModelRequest,
  { kind, account, doneStatus }: RequestAct,
) {
  const path = `${REQUESTS_PATH}/${collectionId}/${id}`
  const token = await organisation.callers.person(account)
  const options = { token, method: 'POST', path: `${path}/${kind}`, body: {} }
  const reply = await expectStatus(organisation, options, 200, 409, 403)
  if (reply.status === 200) return
  const data = await readWritten<RequestAnswer>(organisation, path)
  const isDone = data.lifecycle.some(({ status }) => status === doneStatus)
  if (isDone && reply.isRetry) return
  throw new Error(
    `${kind} of ${path} was refused: ${JSON.stringify(reply.errors)}, the request is ${JSON.stringify(data)}`,
  )
}
