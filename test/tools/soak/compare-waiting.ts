import type { Organisation } from './organisation.ts'
import { REQUESTS_PATH } from './organisation.ts'
import type { JoinableModel } from './organisation-model.ts'
import { type ModelGate, type ModelRequest, waitingGateOf } from './request-model.ts'
import { isStaff, mailOf } from './source-items.ts'
import type { Span } from './times.ts'

type RequestRecord = {
  readonly id: string
  readonly lifecycle: readonly { readonly status: string; readonly at: string }[]
}

/** A request, or an extension, that waits at a gate. */
type Waiting = {
  readonly collectionId: string
  readonly collection: JoinableModel
  readonly request: ModelRequest
  readonly gate: ModelGate
  readonly sinceMs: number
}

const DAY_MS = 24 * 60 * 60 * 1000
/** What is due has been told after this time. */
const TOLD_WITHIN_MS = 60_000

/**
 * Compares what was told of all that waits at gates: reminders in their time, and mails to the approvers.
 * @param swept The time of the last sweep, which has found all that was due.
 */
export async function compareWaiting(organisation: Organisation, swept: Span): Promise<string[]> {
  const waiting = await readWaiting(organisation)
  const reminders = remindersOf(organisation)
  const textsOf = mailTexts(organisation)
  return waiting.flatMap((each) => {
    const { request, gate, sinceMs } = each
    const told = [
      gate.reminderDays === undefined || !hasKnownReminders(each)
        ? undefined
        : reminderFault(reminders.get(String(request.id)) ?? [], sinceMs, gate.reminderDays * DAY_MS, swept),
      ...approversToTell(organisation, each).map((nin) => {
        const path = `/inbox/${each.collectionId}/${request.id}`
        return textsOf(nin).some((text) => text.includes(path)) ? undefined : `and no mail tells approver ${nin}`
      }),
    ]
    const described = `Request ${request.id} waits at gate ${JSON.stringify(gate)} since ${new Date(sinceMs).toISOString()}`
    return told.flatMap((fault) => (fault === undefined ? [] : [`${described} ${fault}`]))
  })
}

async function readWaiting({ model, api, callers }: Organisation): Promise<Waiting[]> {
  const found: Waiting[] = []
  for (const [collectionId, collection] of model.joinable) {
    const records = await api.list<RequestRecord>(callers.writer, `${REQUESTS_PATH}/${collectionId}`)
    const lifecycles = new Map(records.map(({ id, lifecycle }) => [id, lifecycle]))
    for (const request of collection.requests) {
      const gate = waitingGateOf(collection.policy, request)
      const entry = lifecycles.get(request.id ?? '')?.findLast(({ status }) => status === 'PendingApproval')
      if (gate !== undefined && entry !== undefined) {
        found.push({ collectionId, collection, request, gate, sinceMs: Date.parse(entry.at) })
      }
    }
  }
  return found
}

/** Whether the days between the reminders are the same since it waits there. */
function hasKnownReminders({ request: { reminderChanged, formerNin }, sinceMs }: Waiting): boolean {
  return formerNin === undefined && (reminderChanged === undefined || reminderChanged.latestMs < sinceMs)
}

/** One event tells of each period that is over, and of those before it for which nothing was delivered. */
function reminderFault(timesMs: readonly number[], sinceMs: number, periodMs: number, swept: Span): string | undefined {
  const periodOf = (atMs: number) => Math.floor((atMs - sinceMs) / periodMs)
  const periods = timesMs.filter((atMs) => atMs >= sinceMs).map(periodOf)
  const last = periodOf(swept.earliestMs - TOLD_WITHIN_MS)
  if (periods.includes(0)) return 'and was reminded of too early'
  if (new Set(periods).size < periods.length) return `and was reminded of in the periods ${periods}`
  return last > 0 && !periods.some((period) => period >= last) ? `without a reminder in period ${last}` : undefined
}

/** Times of the reminders of each request. */
function remindersOf({ receiver }: Organisation): Map<string, number[]> {
  const reminders = new Map<string, number[]>()
  for (const { type, time, data } of receiver.events.values()) {
    if (type !== 'request.reminder') continue
    const id = String(data.requestId)
    reminders.set(id, [...(reminders.get(id) ?? []), Date.parse(time)])
  }
  return reminders
}

/** Staff who are named at the gate since it waits there, and who want mails since then. */
function approversToTell({ model }: Organisation, { collection, request, gate, sinceMs }: Waiting): string[] {
  const isNamedSince = gate.type === 'Identity' && collection.policySet.latestMs < sinceMs
  if (!isNamedSince || request.formerNin !== undefined) return []
  return gate.approvers.filter((nin) => {
    const choice = model.mailChoices.get(nin)
    const wantsMails = choice === undefined || (choice.mail !== 'None' && choice.set.latestMs < sinceMs)
    return isStaff(nin) && nin !== request.nin && wantsMails
  })
}

function mailTexts({ mails }: Organisation): (nin: string) => readonly string[] {
  const byRecipient = Map.groupBy(mails.values(), ({ content }) => content.to[0])
  return (nin) => (byRecipient.get(mailOf(nin)) ?? []).map(({ content }) => content.text ?? '')
}
