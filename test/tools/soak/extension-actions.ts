import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { exactly, laterEnd } from './end-model.ts'
import { managerKeys } from './gate-dependencies.ts'
import { managersOf } from './manager-model.ts'
import {
  countOutcome,
  expectStatus,
  type Organisation,
  pickSettled,
  REQUESTS_PATH,
  readWritten,
} from './organisation.ts'
import type { OrganisationModel } from './organisation-model.ts'
import { pickOf } from './picks.ts'
import { firstGate, type ModelRequest } from './request-model.ts'
import {
  isCertain,
  newSubmission,
  resultsAtFirstGate,
  type SoakSubmission,
  shortTime,
  submissionKeys,
} from './submissions.ts'

type MembershipAnswer = {
  readonly endsAt: string | null
  readonly extension: { readonly endsAt: string } | null
}
type Membership = { readonly collectionId: string; readonly request: ModelRequest }

/** A member, a manager or an administrator asks for a later end of a membership, which waits at the gates if there are any. */
export async function extendMembership(organisation: Organisation, random: Random): Promise<void> {
  const { model, locks } = organisation
  const memberships = [...model.joinable].flatMap(([collectionId, { requests }]) =>
    requests.filter(canBeExtended).map((request): Membership => ({ collectionId, request })),
  )
  if (memberships.length === 0) return
  const { collectionId, request } = pickSettled(organisation, random, memberships, (each) => each.request.nin)
  const submission = newSubmission(organisation, collectionId, request, random)
  const managers = [...managersOf(model.people, request)]
  const asker = pickOf(random, ['writer', request.nin, ...managers.slice(0, 1)])
  const keys = keysOf(model, submission)
  await locks.run([...keys, asker], async () => {
    const isManager = managersOf(model.people, request).has(asker)
    const isAsker = asker === 'writer' || asker === request.nin || isManager
    const isSame = keysOf(model, submission).isSubsetOf(keys) && canBeExtended(request)
    if (isAsker && isSame && isCertain(organisation, submission, keys))
      await extend(organisation, submission, { request, asker }, random)
  })
}

function keysOf(model: OrganisationModel, submission: SoakSubmission): Set<string> {
  return submissionKeys(model, submission).union(managerKeys(model, submission.subject))
}

function canBeExtended(request: ModelRequest): boolean {
  const { id, status, end, extension, lostPosition } = request
  const isUncertain = request.isEndUncertain || extension === 'unknown' || lostPosition !== undefined
  const others = request.alternatives.length + request.unnoticed.length
  return id !== undefined && status === 'Joined' && end !== undefined && !isUncertain && others === 0
}

type Asked = { readonly request: ModelRequest; readonly asker: string }

/** @throws Error unless it has the expected result, by this attempt or by an earlier one that got no answer */
async function extend(
  organisation: Organisation,
  submission: SoakSubmission,
  { request, asker }: Asked,
  random: Random,
): Promise<void> {
  const { model, times, callers, recentChanges } = organisation
  const { policy } = submission.collection
  const endMs = laterEnd(request, policy, times.now(), shortTime(random))
  const account = asker === 'writer' ? undefined : model.people.identities().get(asker)?.account
  const possible: readonly string[] | undefined =
    request.extension === undefined ? resultsAtFirstGate(model, submission) : ['InvalidRequestState']
  if (endMs === undefined || possible === undefined || (asker !== 'writer' && account === undefined)) return
  const path = `${REQUESTS_PATH}/${submission.collectionId}/${request.id}`
  const body = { endsAt: new Date(endMs).toISOString() }
  const token = account === undefined ? callers.writer : await callers.person(account)
  const began = times.now()
  const options = { token, method: 'POST', path: `${path}/extend`, body }
  const reply = await expectStatus(organisation, options, 200, 400, 403, 409)
  const requested = times.since(began)
  const found = await readWritten<MembershipAnswer>(organisation, path)
  const waits = firstGate(policy) !== undefined
  const isDone = Date.parse((waits ? found.extension?.endsAt : found.endsAt) ?? '') === endMs
  const isAccepted = isDone && (reply.status === 200 || reply.isRetry)
  const result = isAccepted ? 'accepted' : (reply.errors[0]?.code ?? `status ${reply.status}`)
  if (!possible.includes(result)) {
    throw new Error(`${path}/extend until ${body.endsAt}: ${result}, not ${possible}, it is ${JSON.stringify(found)}`)
  }
  countOutcome(organisation, `extend${waits ? ' at a gate' : ''}: ${result}`)
  if (!isAccepted) return
  if (waits) request.extension = { endMs, requested, approvedGates: [] }
  else request.end = exactly(endMs)
  recentChanges.note(request.nin)
}
