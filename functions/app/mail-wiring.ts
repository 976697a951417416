import { cosmosMailboxStore, cosmosNoticeStore } from '../../shared/cosmos/events/mail-stores.ts'
import type { TellByMail } from '../../shared/domain/events/event-stores.ts'
import { isMailed } from '../../shared/domain/mail/letter.ts'
import type { MailDependencies, Mailer } from '../../shared/domain/mail/mail-dependencies.ts'
import { sendMails, sweepMails } from '../../shared/domain/mail/send-mails.ts'
import { coalesce } from '../../shared/kernel/concurrency.ts'
import { enqueueMails } from '../../shared/kernel/enqueue-messages.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import { messageHandler } from './message-handlers.ts'
import type { Wiring } from './wiring.ts'

type Stores = Pick<MailDependencies, 'notices' | 'mailboxes'>

const CONSOLE_PATH = '/console'

export function mailStores({ container }: Wiring): Stores {
  const events = container('events')
  return { notices: cosmosNoticeStore(events), mailboxes: cosmosMailboxStore(events) }
}

/** Undefined where no mails are sent. */
export function tellByMail({ mailer, messageQueue, newId }: Wiring, { notices }: Stores): TellByMail | undefined {
  if (mailer === undefined) return undefined
  return async (tenantId, events) => {
    const mailed = events.filter(isMailed)
    if (mailed.length === 0) return
    await notices.add(tenantId, mailed)
    await enqueueMails(tenantId, newId(), { messageQueue })
  }
}

type Sources = Omit<
  MailDependencies,
  keyof Stores | 'mailer' | 'consoleUrl' | 'messageQueue' | 'log' | 'metrics' | 'deriveId' | 'newId' | 'nowMs'
>

/** The handler of the messages that send mails, and their sweep. Where no mails are sent, neither does anything. */
export function mailWiring(
  { publicUrl, consoleClientId }: Settings,
  { mailer, messageQueue, log, metrics, deriveId, newId, nowMs }: Wiring,
  stores: Stores,
  sources: Sources,
) {
  const consoleUrl = publicUrl === undefined || consoleClientId === undefined ? undefined : publicUrl + CONSOLE_PATH
  const open = (opened: Mailer): MailDependencies => ({
    ...sources,
    ...stores,
    mailer: opened,
    consoleUrl,
    ...{ messageQueue, log, metrics, deriveId, newId, nowMs },
  })
  const deps = mailer && open(mailer)
  // Messages of one tenant share a run.
  const send = coalesce(async (tenantId: string) => {
    if (deps !== undefined) await sendMails({ tenantId }, deps)
  })
  return {
    messages: messageHandler('mails', ({ tenantId }) => send(tenantId)),
    sweep: async () => {
      if (deps !== undefined) await sweepMails(deps)
    },
  }
}
