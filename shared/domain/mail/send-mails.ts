import { enqueueMails } from '../../kernel/enqueue-messages.ts'
import { timeLimit } from '../../kernel/invocation-time.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { StoredEvent } from '../events/event-types.ts'
import { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { LetterContext } from './letter.ts'
import { type Address, addressOf } from './letter-address.ts'
import { lettersOf } from './letters.ts'
import type { MailDependencies } from './mail-dependencies.ts'
import type { MailItem } from './mail-item.ts'
import { afterMail, deliveryOf, type Mailbox, newMailbox, withoutWaiting, withWaiting } from './mailbox.ts'
import { renderMail } from './render-mail.ts'

/** Longer than an invocation sends mails. After a crash, the sweep has the rest sent. */
const CLAIM_MS = 5 * 60_000
const MAX_ATTEMPTS = 10

/**
 * Sends the mails of a tenant that are due: of events that were not reported yet, and digests. A message that comes
 * twice or late finds nothing to do. After a crash a mail can be sent again, with the same `Message-ID`.
 * @throws The fault when nothing can be sent now. What is left is due again.
 */
export async function sendMails({ tenantId }: { readonly tenantId: string }, deps: MailDependencies): Promise<void> {
  const isLate = timeLimit(deps)
  const sending = await openSending(tenantId, isLate, deps)
  for (;;) {
    const due = await deps.notices.due(tenantId, deps.nowMs())
    for (const notice of due) {
      if (isLate()) return enqueueMails(tenantId, deps.newId(), deps)
      await handleNotice(notice, sending)
    }
    if (due.length === 0) break
  }
  for (const mailbox of await deps.mailboxes.due(tenantId, deps.nowMs())) {
    if (isLate()) return enqueueMails(tenantId, deps.newId(), deps)
    await sendDigest(mailbox, sending)
  }
}

/** What was due for this time has lost its message. */
const BEHIND_MS = 2 * 60_000

/** Has the mails sent whose message was lost. Costs one query for all tenants together. */
export async function sweepMails(
  deps: Pick<MailDependencies, 'mailboxes' | 'messageQueue' | 'newId' | 'nowMs'>,
): Promise<void> {
  for (const tenantId of await deps.mailboxes.tenantsBehind(deps.nowMs() - BEHIND_MS)) {
    await enqueueMails(tenantId, deps.newId(), deps)
  }
}

type Sending = {
  readonly context: LetterContext
  readonly timeZone: string
  readonly deps: MailDependencies
  /** Whether the rest is left to another message. */
  isLate(): boolean
}

async function openSending(tenantId: string, isLate: () => boolean, deps: MailDependencies): Promise<Sending> {
  const { value: settings } = await deps.settings.find(tenantId)
  let loaded: Promise<OrgChart> | undefined
  const load = async () => new OrgChart(await deps.snapshots.fresh(tenantId), deps.nowMs())
  const orgChart = () => {
    loaded ??= load()
    return loaded
  }
  return { context: { tenantId, settings, orgChart }, timeZone: settings.timeZone, deps, isLate }
}

async function handleNotice(notice: Versioned<StoredEvent>, sending: Sending): Promise<void> {
  const { deps, context, isLate } = sending
  const { tenantId } = context
  const event = notice.value
  const version = await deps.notices.claim(tenantId, notice, deps.nowMs() + CLAIM_MS)
  if (version === undefined) return
  const release = () => deps.notices.claim(tenantId, { value: event, version }, deps.nowMs())
  try {
    const letters = await lettersOf(event, context, deps)
    // The event is due again when the claim has ended.
    if (letters === 'later') return await enqueueMails(tenantId, deps.newId(), deps, CLAIM_MS)
    let hasTold = false
    for (const { to, item } of letters) {
      // The event is due again at once. Mailboxes know who was told. No invocation ends before it has told another one.
      if (hasTold && isLate()) return void (await release())
      const address = await addressOf(to, context, deps)
      if (address !== undefined && (await tell(address, event, item, sending))) hasTold = true
    }
  } catch (fault) {
    await release()
    throw fault
  }
  await deps.notices.remove(tenantId, event.id)
}

/**
 * Sends the mail of an event, or adds the event to the next digest.
 * @returns False for a recipient who has been told, or wants no mails.
 */
async function tell(address: Address, event: StoredEvent, item: MailItem, sending: Sending): Promise<boolean> {
  const { context, timeZone, deps } = sending
  const { tenantId } = context
  const found = await deps.mailboxes.find(tenantId, address.key)
  const nowMs = deps.nowMs()
  const delivery = deliveryOf(found?.value ?? newMailbox(address.key), event.id, nowMs, timeZone)
  if (delivery === 'none') return false
  if (delivery === 'later') {
    const saved = await update(address.key, (box) => withWaiting(box, event, nowMs, timeZone), sending)
    await enqueueMails(tenantId, deps.newId(), deps, (saved.digestAtMs ?? nowMs) - nowMs)
    return true
  }
  await send(address, [item], deps.deriveId('mail', event.id, address.key), sending)
  await update(address.key, (box) => afterMail(box, [event.id], nowMs, timeZone), sending)
  return true
}

/** Changes the mailbox as it is stored now. */
async function update(
  key: string,
  change: (mailbox: Mailbox) => Mailbox,
  { context: { tenantId }, deps }: Sending,
): Promise<Mailbox> {
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const found = await deps.mailboxes.find(tenantId, key)
    const changed = change(found?.value ?? newMailbox(key))
    if ((await deps.mailboxes.save(tenantId, changed, found?.version)) !== undefined) return changed
  }
  throw new Error(`Mailbox ${key} was changed concurrently ${MAX_ATTEMPTS} times`)
}

async function send(
  address: Address,
  items: readonly MailItem[],
  messageKey: string,
  sending: Sending,
  omittedCount = 0,
): Promise<void> {
  const { deps, context, timeZone } = sending
  const reader = { language: address.language, timeZone, consoleUrl: deps.consoleUrl, isOperator: address.isOperator }
  const isSent = await deps.mailer.send({ ...renderMail(items, reader, omittedCount), to: address.mail, messageKey })
  deps.metrics.record('mails.sent', 1, { outcome: isSent ? 'Sent' : 'Refused' })
  if (!isSent) deps.log.warn('mails.refused', { tenantId: context.tenantId, messageKey })
}

/**
 * Tells what waits and still concerns the recipient in one mail. The other workers leave the digest alone meanwhile.
 */
async function sendDigest({ value: mailbox, version }: Versioned<Mailbox>, sending: Sending): Promise<void> {
  const { deps, context, timeZone } = sending
  const { tenantId } = context
  const claimed = { ...mailbox, digestAtMs: deps.nowMs() + CLAIM_MS }
  if ((await deps.mailboxes.save(tenantId, claimed, version)) === undefined) return
  try {
    const { isSent, eventIds } = await sendWaiting(mailbox, sending)
    const after = isSent ? afterMail : withoutWaiting
    const saved = await update(mailbox.key, (box) => after(box, eventIds, deps.nowMs(), timeZone), sending)
    if (saved.digestAtMs !== undefined)
      await enqueueMails(tenantId, deps.newId(), deps, saved.digestAtMs - deps.nowMs())
  } catch (fault) {
    await update(mailbox.key, (box) => ({ ...box, digestAtMs: deps.nowMs() }), sending)
    throw fault
  }
}

type SentDigest = {
  /** Whether there was anything to tell. */
  readonly isSent: boolean
  /** The events that need not wait any more. */
  readonly eventIds: readonly string[]
}

async function sendWaiting({ key, mail, waiting, omittedCount }: Mailbox, sending: Sending): Promise<SentDigest> {
  const { deps, context } = sending
  if (mail === 'None') return { isSent: false, eventIds: waiting.map(({ id }) => id) }
  const items: MailItem[] = []
  const eventIds: string[] = []
  const ofOthers: StoredEvent[] = []
  let recipient: Address | undefined
  for (const event of waiting) {
    const letters = await lettersOf(event, context, deps)
    if (letters === 'later') continue
    eventIds.push(event.id)
    const ownCount = items.length
    for (const { to, item } of letters) {
      const address = await addressOf(to, context, deps)
      if (address?.key !== key) continue
      recipient = address
      items.push(item)
    }
    if (letters.length > 0 && items.length === ownCount) ofOthers.push(event)
  }
  if (ofOthers.length > 0) await tellSuccessor(key, ofOthers, sending)
  if (recipient === undefined) return { isSent: false, eventIds }
  await send(recipient, items, deps.deriveId('digest', key, ...eventIds), sending, omittedCount)
  return { isSent: true, eventIds }
}

/**
 * A person who has become a part of another one gets no letter: the other one does, who may not have been told. The
 * events are told as new ones are, within the time of an invocation. Mailboxes know who was told.
 */
async function tellSuccessor(key: string, events: readonly StoredEvent[], { context, deps }: Sending): Promise<void> {
  const { tenantId, orgChart } = context
  if ((await orgChart()).has('identity', key)) return
  await deps.notices.add(tenantId, events)
  await enqueueMails(tenantId, deps.newId(), deps)
}
