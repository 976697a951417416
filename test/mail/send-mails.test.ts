import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { StoredEvent } from '../../shared/domain/events/event-types.ts'
import { DEFAULT_LINK_SETTINGS } from '../../shared/domain/group-links/link-settings.ts'
import type { MailDependencies } from '../../shared/domain/mail/mail-dependencies.ts'
import { type Mailbox, newMailbox } from '../../shared/domain/mail/mailbox.ts'
import { sendMails } from '../../shared/domain/mail/send-mails.ts'

const NOW_MS = Date.parse('2030-01-02T08:00:00Z')
const EVENT = {
  ...{ id: 'event', type: 'subscription.disabled', time: '2030-01-02T07:59:00.000+00:00', subject: '/subscription' },
  data: { subscriptionId: 'subscription', reason: 'Gone' },
} as unknown as StoredEvent

/** A service with one operator, whom an event or a digest is to be told of. @param claimed Undefined: by another one. */
function service({
  notices = [] as StoredEvent[],
  digest = false,
  omittedCount = 0,
  claimed = undefined as string | undefined,
}) {
  const sent: string[] = []
  const texts: string[] = []
  const keys: string[] = []
  const claimsMs: number[] = []
  let isAway = false
  let mailbox: Mailbox = newMailbox('operator ada@one.example')
  if (digest) mailbox = { ...mailbox, mail: 'Daily', waiting: [EVENT], digestAtMs: NOW_MS }
  if (omittedCount > 0) mailbox = { ...mailbox, omittedCount }
  const due = notices.map((value) => ({ value, version: '1' }))
  const claim = async (_tenantId: string, _notice: unknown, untilMs: number) => {
    claimsMs.push(untilMs)
    return claimed
  }
  const subscription = { id: 'subscription', url: 'https://one.example', disabledReason: 'Gone' }
  const deps = {
    notices: { due: async () => due.splice(0), claim, remove: async () => undefined },
    mailboxes: {
      due: async () => ((mailbox.digestAtMs ?? Infinity) <= NOW_MS ? [{ value: mailbox, version: '1' }] : []),
      find: async () => ({ value: mailbox, version: '1' }),
      save: async (_tenantId: string, saved: Mailbox) => {
        mailbox = saved
        return '2'
      },
    },
    mailer: {
      send: async ({ to, text, messageKey }: { to: string; text: string; messageKey: string }) => {
        keys.push(messageKey)
        if (isAway) throw new Error('The directory is away')
        texts.push(text)
        return sent.push(to) > 0
      },
    },
    settings: { find: async () => ({ value: { ...DEFAULT_LINK_SETTINGS, operators: ['ada@one.example'] } }) },
    subscriptions: { read: async () => ({ value: [subscription], version: '1' }) },
    messageQueue: { enqueue: async () => undefined },
    ...{ metrics: { record: () => undefined }, log: { info: () => undefined, warn: () => undefined } },
    ...{ deriveId: (...parts: string[]) => parts.join(' '), newId: () => 'id', nowMs: () => NOW_MS },
  } as unknown as MailDependencies
  const send = (away = false) => {
    isAway = away
    return sendMails({ tenantId: 't' }, deps)
  }
  const wait = (event: StoredEvent) => {
    mailbox = { ...mailbox, waiting: [event], digestAtMs: NOW_MS }
  }
  return { send, wait, sent, texts, keys, claimsMs, mailbox: () => mailbox }
}

describe('A worker that sends mails', () => {
  it('tells nobody of an event that another worker handles', async () => {
    const [others, own] = [service({ notices: [EVENT] }), service({ notices: [EVENT], claimed: '2' })]
    await others.send()
    await own.send()
    assert.deepEqual([others.sent, own.sent], [[], ['ada@one.example']])
  })

  it('makes an event due again at once when it cannot tell it', async () => {
    const { send, claimsMs } = service({ notices: [EVENT], claimed: '2' })
    await assert.rejects(send(true), /away/)
    assert.deepEqual(claimsMs, [NOW_MS + 300_000, NOW_MS])
  })

  it('gives a digest the same id when it sends it again, and another one to the next digest', async () => {
    const { send, wait, keys } = service({ digest: true })
    await assert.rejects(send(true), /away/)
    await send()
    wait({ ...EVENT, id: 'another event' })
    await send()
    const [failed, repeated, next] = keys
    assert.deepEqual([keys.length, repeated], [3, failed])
    assert.notEqual(next, repeated)
  })

  it('has a digest sent by the next one when it cannot send it', async () => {
    const { send, sent } = service({ digest: true })
    await assert.rejects(send(true), /away/)
    await send()
    assert.deepEqual(sent, ['ada@one.example'])
  })

  it('says in a digest how many events it leaves out, also in the one after a failure, and then forgets them', async () => {
    const { send, texts, mailbox } = service({ digest: true, omittedCount: 2 })
    await assert.rejects(send(true), /away/)
    await send()
    assert.match(texts.join(), /2 earlier notifications are left out/)
    assert.equal(mailbox().omittedCount, undefined)
  })
})
