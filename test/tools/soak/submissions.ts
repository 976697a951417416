import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { grantMembership } from './end-model.ts'
import { approverKeys, membershipKeys } from './gate-dependencies.ts'
import { positionsOf } from './manager-model.ts'
import { apply, countOutcome, expectStatus, type Organisation, pickSettled, REQUESTS_PATH } from './organisation.ts'
import type { JoinableModel, OrganisationModel } from './organisation-model.ts'
import { approversAt, isEligible } from './policy-model.ts'
import { firstGate, isOpenOrJoined, type ModelRequest, type RequestSubject, statusUnder } from './request-model.ts'
import type { Span } from './times.ts'

/** A request that a person is about to submit. */
export type SoakSubmission = {
  readonly collectionId: string
  readonly collection: JoinableModel
  readonly subject: RequestSubject
  /** A person who can decide at the first gate; undefined where only the subject can. */
  readonly approverNin: string | undefined
}

type SentSubmission = {
  readonly account: string
  /** Undefined when the subject submits it. */
  readonly submitterNin: string | undefined
  readonly body: object
}

type RequestAnswer = { readonly id: string; readonly relationshipId: string | null }
type SubmissionResult = 'accepted' | 'RequestAlreadyOpen' | 'AlreadyMember' | 'NotEligible' | 'NoApprover'

/** What a submission says besides its subject. */
export type RequestOrigin = {
  readonly created: Span
  readonly askedEndMs: number | undefined
  readonly submitterNin?: string | undefined
}

export const newModelRequest = (
  id: string | undefined,
  subject: RequestSubject,
  { created, askedEndMs, submitterNin }: RequestOrigin,
): ModelRequest => ({
  id,
  nin: subject.nin,
  position: subject.position,
  lostPosition: undefined,
  submitterNin,
  formerNin: undefined,
  status: 'Joined',
  alternatives: [],
  unnoticed: [],
  isMergeUnnoticed: false,
  approvedGates: [],
  deciders: new Set(),
  represented: new Set(),
  decisionNotes: [],
  endedByDeletion: false,
  created,
  askedEndMs,
  end: undefined,
  extension: undefined,
  reminderChanged: undefined,
  isEndUncertain: false,
})

/** A person with exactly one position requests it, others request none. */
export function usualSubject({ people }: OrganisationModel, nin: string): RequestSubject {
  const positions = [...positionsOf(people, nin).keys()]
  return { nin, position: positions.length === 1 ? positions[0] : undefined }
}

export function newSubmission(
  organisation: Organisation,
  collectionId: string,
  subject: RequestSubject,
  random: Random,
): SoakSubmission {
  const { model } = organisation
  const collection = model.joinable.get(collectionId)
  if (collection === undefined) throw new Error(`There is no collection ${collectionId}`)
  const gate = firstGate(collection.policy)
  const approvers = gate === undefined ? new Set<string>() : approversAt(model, gate, subject)
  const others = [...approvers].filter((nin) => nin !== subject.nin)
  const approverNin = others.length === 0 ? undefined : pickSettled(organisation, random, others, (nin) => nin)
  return { collectionId, collection, subject, approverNin }
}

/** Everything on which the result depends. */
export function submissionKeys(model: OrganisationModel, submission: SoakSubmission): Set<string> {
  const { collectionId, subject, approverNin } = submission
  const { policy } = submission.collection
  const gate = firstGate(policy)
  const ofGate = gate === undefined ? new Set<string>() : approverKeys(model, gate, subject, approverNin ?? subject.nin)
  return membershipKeys(model, subject.nin, policy.joinableBy).union(ofGate).add(collectionId)
}

/** The possible results; undefined where something on which they depend changed lately. */
export function possibleResults(
  organisation: Organisation,
  submission: SoakSubmission,
  keys: ReadonlySet<string>,
): readonly SubmissionResult[] | undefined {
  const { collection, subject } = submission
  const { model } = organisation
  if (!isCertain(organisation, submission, keys) || !hasPosition(model, subject)) return undefined
  const live = collection.requests.find((request) => request.nin === subject.nin && isOpenOrJoined(request))
  if (live !== undefined) return [live.status === 'Joined' ? 'AlreadyMember' : 'RequestAlreadyOpen']
  return resultsAtFirstGate(model, submission)
}

/** Whether nothing on which the result depends has changed lately. */
export function isCertain(
  { model, recentChanges, changedNins }: Organisation,
  submission: SoakSubmission,
  keys: ReadonlySet<string>,
): boolean {
  const { subject, approverNin } = submission
  const needed = submissionKeys(model, submission)
  const people = [subject.nin, ...(approverNin === undefined ? [] : [approverNin])]
  if (!needed.isSubsetOf(keys) || !recentChanges.isSettled(needed)) return false
  return !people.some((nin) => changedNins.has(nin))
}

/** The possible results of asking for a membership, or for a later end of one; undefined where none is certain. */
export function resultsAtFirstGate(
  model: OrganisationModel,
  { collection, subject, approverNin }: SoakSubmission,
): readonly ('accepted' | 'NotEligible' | 'NoApprover')[] | undefined {
  if (!isEligible(model, collection.policy, subject.nin)) return ['NotEligible']
  const gate = firstGate(collection.policy)
  if (gate === undefined) return ['accepted']
  const approvers = approversAt(model, gate, subject)
  if (approverNin !== undefined) return approvers.has(approverNin) ? ['accepted'] : undefined
  if (approvers.difference(new Set([subject.nin])).size > 0) return undefined
  // Other people can become members of the approver collection meanwhile.
  return gate.type === 'Collection' ? ['accepted', 'NoApprover'] : ['NoApprover']
}

function hasPosition({ people }: OrganisationModel, { nin, position }: RequestSubject): boolean {
  const positions = positionsOf(people, nin)
  return position === undefined ? positions.size !== 1 : positions.has(position)
}

/** Submits a request, and applies it to the model. @throws Error for a result that is not possible */
export async function sendSubmission(
  organisation: Organisation,
  { collectionId, collection, subject }: SoakSubmission,
  { account, submitterNin, body }: SentSubmission,
  possible: readonly string[],
  random: Random,
): Promise<void> {
  const way = submitterNin === undefined ? 'submit' : 'submit-on-behalf'
  const path = `${REQUESTS_PATH}/${collectionId}/${way}`
  const idempotencyKey = organisation.unique('submission')
  const began = organisation.times.now()
  const askedEndMs = askedEnd(organisation, random)
  const reply = await expectStatus<RequestAnswer>(
    organisation,
    {
      token: await organisation.callers.person(account),
      method: 'POST',
      path,
      body: { ...body, notes: idempotencyKey, ...endBody(askedEndMs) },
      idempotencyKey,
    },
    201,
    403,
    409,
  )
  const result = reply.status === 201 ? 'accepted' : (reply.errors[0]?.code ?? '')
  if (!possible.includes(result)) {
    throw new Error(
      `${path} for ${JSON.stringify(subject)}: ${result} ${JSON.stringify(reply.errors)}, not ${possible}`,
    )
  }
  countOutcome(organisation, `${way}: ${result}`)
  if (result !== 'accepted') return
  const created = organisation.times.since(began)
  const request = newModelRequest(reply.data.id, subject, { created, askedEndMs, submitterNin })
  request.status = statusUnder(collection.policy, request)
  if (request.status === 'Joined') grantMembership(request, collection.policy, created)
  apply(organisation, () => collection.requests.push(request))
  organisation.recentChanges.note(subject.nin)
  if (reply.data.relationshipId !== null && subject.position !== undefined) {
    organisation.positionNames.set(reply.data.relationshipId, subject.position)
  }
}

/** Later than the next quiet point begins, and earlier than it ends. */
const ASKED_END_MS = { least: 6 * 60_000, range: 3 * 60_000 }

/** The end that some memberships are asked to have. */
export function askedEnd({ times }: Organisation, random: Random): number | undefined {
  if (!random.percent(20)) return undefined
  return times.now().latestMs + shortTime(random)
}

export const shortTime = (random: Random): number => ASKED_END_MS.least + random.below(ASKED_END_MS.range)

export const endBody = (askedEndMs: number | undefined) =>
  askedEndMs === undefined ? {} : { endsAt: new Date(askedEndMs).toISOString() }
