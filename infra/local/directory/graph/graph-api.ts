import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Faults } from '../faults.ts'
import type { MembershipChanges } from '../membership-changes.ts'
import type { DirectoryObjects } from '../objects.ts'
import type { RecentList } from '../recent-list.ts'
import { type RequestRecord, requestRecord } from '../request-log.ts'
import type { SigningKeys } from '../signing-keys.ts'
import {
  answered,
  badRequest,
  type Flaw,
  type GraphAnswer,
  type GraphCaller,
  type GraphRequest,
  insufficientPrivileges,
  NO_FLAW,
  refused,
  type SentMail,
} from './exchange.ts'
import { batchedAnswer, batchItems, shuffled } from './json-batch.ts'
import { assertKnownOptions } from './pages.ts'
import { graphCaller, holdsOneOf } from './rights.ts'
import { findRoute, graphRoutes } from './routes.ts'
import { costOf, type Quotas, throttle } from './throttle.ts'

type GraphDependencies = {
  readonly objects: DirectoryObjects
  readonly changes: MembershipChanges
  readonly mails: RecentList<SentMail>
  readonly keys: SigningKeys
  readonly faults: Faults
  readonly log: RecentList<RequestRecord>
  readonly quotas: Quotas
  readonly nowMs: () => number
}

type IncomingRequest = Omit<GraphRequest, 'body'> & {
  readonly text: string
  readonly authorization: string | undefined
  /** The client's own id of the request. */
  readonly clientRequestId: string | undefined
  readonly contentType: string | undefined
  readonly origin: string
}

type Outcome = GraphAnswer | 'dropped'
type Sender = { readonly caller: GraphCaller; readonly origin: string }

const BATCH_PATH = '/v1.0/$batch'
const statusOf = (outcome: Outcome): number => (outcome === 'dropped' ? 0 : outcome.status)

/** Serves `/v1.0`: permissions, injected faults, quotas, batches and the request log. */
export function graphApi({ objects, changes, mails, keys, faults, log, quotas, nowMs }: GraphDependencies) {
  const routes = graphRoutes()
  const limits = throttle(quotas, objects.userCount, nowMs)

  async function serve(incoming: IncomingRequest): Promise<Outcome> {
    const outcome = await answerTo(incoming)
    // A page instead of JSON comes from something in front of Graph.
    return outcome === 'dropped' || typeof outcome.body === 'string'
      ? outcome
      : withRequestId(outcome, incoming.clientRequestId)
  }

  async function answerTo(incoming: IncomingRequest): Promise<Outcome> {
    let caller: GraphCaller
    try {
      caller = graphCaller(incoming.authorization, keys, nowMs())
    } catch (error) {
      const answer = refused(error, nowMs())
      log.add(requestRecord(incoming, null, answer.status))
      return { ...answer, headers: { 'www-authenticate': 'Bearer realm="", error="invalid_token"' } }
    }
    const items: RequestRecord[] = []
    const isBatch = incoming.path === BATCH_PATH && incoming.method === 'POST'
    const outcome = await withFaults({ ...incoming, body: incoming.text }, async (flaw) => {
      try {
        const request = { ...incoming, body: bodyOf(incoming) }
        const sender = { caller, origin: incoming.origin }
        return isBatch ? await runBatch(request, sender, items) : run(request, sender, flaw)
      } catch (error) {
        return refused(error, nowMs())
      }
    })
    log.add(requestRecord(incoming, caller.tenantId, statusOf(outcome), isBatch ? items : undefined))
    return outcome
  }

  async function withFaults(request: GraphRequest, respond: (flaw: Flaw) => Promise<Outcome>): Promise<Outcome> {
    const fault = faults.take(request)
    if (fault === undefined) return respond(NO_FLAW)
    if (fault.delayMs > 0) await delay(fault.delayMs, undefined, { ref: false })
    if (fault.failure === 'none') return respond(fault.flaw)
    if (fault.applyFirst) await respond(NO_FLAW)
    return fault.failure === 'drop' ? 'dropped' : fault.failure
  }

  function run(request: GraphRequest, { caller, origin }: Sender, flaw: Flaw): GraphAnswer {
    let metered: Record<string, string> = {}
    try {
      const { route, parameters } = findRoute(routes, request.method, request.path)
      const taken = limits.take(caller, costOf(route, request, quotas))
      if ('refusal' in taken) return taken.refusal
      metered = taken.headers
      if (!holdsOneOf(caller, route.rights)) throw insufficientPrivileges()
      assertKnownOptions(request.query)
      const call = { ...request, caller, parameters, objects, origin, nowMs: nowMs(), changes, mails, flaw }
      const answer = changes.sentBy(caller.clientId, () => route.run(call))
      return { ...answer, headers: { ...metered, ...answer.headers } }
    } catch (error) {
      return { ...refused(error, nowMs()), headers: metered }
    }
  }

  async function runBatch(request: GraphRequest, sender: Sender, records: RequestRecord[]): Promise<Outcome> {
    const items = batchItems(request.body)
    const outcomes = await Promise.all(
      items.map((item) => withFaults(item.request, async (flaw) => run(item.request, sender, flaw))),
    )
    for (const [index, item] of items.entries()) {
      records.push(requestRecord(item.request, sender.caller.tenantId, statusOf(outcomes[index] ?? 'dropped')))
    }
    const answers = outcomes.flatMap((outcome, index) =>
      outcome === 'dropped' ? [] : [batchedAnswer(items[index]?.id ?? '', outcome)],
    )
    // An item shares the connection of its batch.
    return answers.length < items.length ? 'dropped' : answered(200, { responses: shuffled(answers) })
  }

  return { serve }
}

/** The answer with its id, in the headers and in the error. https://learn.microsoft.com/graph/best-practices-concept */
function withRequestId(answer: GraphAnswer, clientRequestId: string | undefined): GraphAnswer {
  const id = randomUUID()
  const ids = { 'request-id': id, 'client-request-id': clientRequestId ?? id }
  const { error } = (answer.body ?? {}) as { readonly error?: { readonly innerError?: object } }
  const body =
    error?.innerError === undefined ? answer.body : { error: { ...error, innerError: { ...error.innerError, ...ids } } }
  return { ...answer, headers: { ...answer.headers, ...ids }, body }
}

/** A text, which only `sendMail` takes, or JSON. */
function bodyOf({ text, contentType = '' }: IncomingRequest): unknown {
  return /^text\/plain\b/i.test(contentType) ? text : jsonBody(text)
}

function jsonBody(text: string): unknown {
  if (text === '') return undefined
  try {
    return JSON.parse(text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw badRequest(
      'Unable to read JSON request payload. Please ensure Content-Type header is set and payload is of valid JSON format.',
      'BadRequest',
    )
  }
}
