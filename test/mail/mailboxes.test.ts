import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isMailed } from '../../shared/domain/mail/letter.ts'
import {
  afterMail,
  deliveryOf,
  type Mailbox,
  newMailbox,
  withoutWaiting,
  withWaiting,
} from '../../shared/domain/mail/mailbox.ts'

/** 10:00 in Oslo. */
const NOW_MS = Date.parse('2030-06-01T08:00:00Z')
const NEXT_DIGEST_MS = Date.parse('2030-06-02T05:00:00Z')
const OSLO = 'Europe/Oslo'
const event = (id: string) => ({ id, type: 'request.waiting', time: '', subject: '', data: {} })
const mailbox = (changes: Partial<Mailbox> = {}): Mailbox => ({ ...newMailbox('ann'), ...changes })
const ids = (count: number) => Array.from({ length: count }, (_, index) => `event${index}`)

describe('A new mailbox', () => {
  it('gets mails immediately, and has had none', () => {
    const expected = { key: 'ann', mail: 'Immediately', day: '', sentCount: 0, toldIds: [], waiting: [] }
    assert.deepEqual(newMailbox('ann'), expected)
  })
})

describe('An event is told', () => {
  const today = { day: '2030-06-01' }
  for (const [claim, changes, expected] of [
    ['now', {}, 'now'],
    ['with the digest to who wants one mail a day', { mail: 'Daily' }, 'later'],
    ['never to who wants none', { mail: 'None' }, 'none'],
    ['never again to who was told', { toldIds: ['other', 'one'] }, 'none'],
    ['never beside the digest that will tell it', { waiting: [event('other'), event('one')] }, 'none'],
    ['now when others were told', { toldIds: ['other'], waiting: [event('another')] }, 'now'],
    ['now as mail 50 of the day', { ...today, sentCount: 49 }, 'now'],
    ['with the digest after 50 mails of the day', { ...today, sentCount: 50 }, 'later'],
    ['now after 50 mails of another day', { day: '2030-05-31', sentCount: 50 }, 'now'],
  ] as const)
    it(claim, () => assert.equal(deliveryOf(mailbox(changes), 'one', NOW_MS, OSLO), expected))

  it('now from midnight of the time zone on', () => {
    const full = mailbox({ ...today, sentCount: 50 })
    const midnightMs = Date.parse('2030-06-01T22:00:00Z')
    assert.equal(deliveryOf(full, 'one', midnightMs - 1, OSLO), 'later')
    assert.equal(deliveryOf(full, 'one', midnightMs, OSLO), 'now')
  })
})

describe('A mailbox after a mail', () => {
  it('counts it for the day of the time zone, and knows what was told', () => {
    const first = afterMail(mailbox(), ['one', 'two'], NOW_MS, OSLO)
    assert.deepEqual([first.day, first.sentCount, first.toldIds], ['2030-06-01', 1, ['one', 'two']])
    const second = afterMail(first, ['two', 'three'], NOW_MS, OSLO)
    assert.deepEqual([second.sentCount, second.toldIds], [2, ['one', 'two', 'three']])
    const nextDay = afterMail(second, ['four'], Date.parse('2030-06-01T22:00:00Z'), OSLO)
    assert.deepEqual([nextDay.day, nextDay.sentCount], ['2030-06-02', 1])
  })

  it('remembers the last 300 events', () => {
    const { toldIds } = afterMail(mailbox({ toldIds: ids(300) }), ['new'], NOW_MS, OSLO)
    assert.deepEqual([toldIds.length, toldIds[0], toldIds.at(-1)], [300, 'event1', 'new'])
  })
})

describe('A digest', () => {
  it('is due at the next 07:00 of the time zone, and stays due then', () => {
    const first = withWaiting(mailbox(), event('one'), NOW_MS, OSLO)
    assert.deepEqual([first.waiting, first.digestAtMs], [[event('one')], NEXT_DIGEST_MS])
    const second = withWaiting(first, event('two'), NEXT_DIGEST_MS, OSLO)
    assert.deepEqual([second.waiting.length, second.digestAtMs], [2, NEXT_DIGEST_MS])
  })

  it('has the newest 300 events', () => {
    const full = mailbox({ waiting: ids(300).map(event) })
    const { waiting } = withWaiting(full, event('new'), NOW_MS, OSLO)
    assert.deepEqual([waiting.length, waiting[0]?.id, waiting.at(-1)?.id], [300, 'event1', 'new'])
  })

  it('counts the events that are left out of it, until it is sent', () => {
    const full = mailbox({ waiting: ids(300).map(event), digestAtMs: NEXT_DIGEST_MS })
    const twice = withWaiting(withWaiting(full, event('new'), NOW_MS, OSLO), event('newer'), NOW_MS, OSLO)
    assert.equal(twice.omittedCount, 2)
    assert.equal(afterMail(twice, ['another'], NOW_MS, OSLO).omittedCount, 2)
    const eventIds = twice.waiting.map(({ id }) => id)
    assert.equal(withoutWaiting(twice, eventIds, NEXT_DIGEST_MS, OSLO).omittedCount, 2)
    assert.ok(!('omittedCount' in afterMail(twice, eventIds, NEXT_DIGEST_MS, OSLO)))
  })

  it('has left out nothing for who wants no mails', () => {
    const box = mailbox({ mail: 'None', waiting: [event('one')], omittedCount: 2 })
    assert.ok(!('omittedCount' in withoutWaiting(box, ['one'], NEXT_DIGEST_MS, OSLO)))
  })

  it('is not due any more when nothing waits, sent or not', () => {
    const waiting = withWaiting(mailbox(), event('one'), NOW_MS, OSLO)
    const unsent = withoutWaiting(waiting, ['one'], NEXT_DIGEST_MS, OSLO)
    assert.deepEqual(unsent, { ...mailbox(), toldIds: ['one'] })
    const sent = afterMail(waiting, ['one'], NEXT_DIGEST_MS, OSLO)
    assert.deepEqual(sent, { ...mailbox(), toldIds: ['one'], day: '2030-06-02', sentCount: 1 })
  })

  it('stays due when another mail is sent first', () => {
    const waiting = withWaiting(mailbox(), event('one'), NOW_MS, OSLO)
    for (const nowMs of [NOW_MS + 1000, NEXT_DIGEST_MS + 1000]) {
      const after = afterMail(waiting, ['new'], nowMs, OSLO)
      assert.deepEqual([after.waiting, after.digestAtMs, after.sentCount], [[event('one')], NEXT_DIGEST_MS, 1])
    }
  })

  it('is due at the following 07:00 for what has come meanwhile', () => {
    const waiting = mailbox({ waiting: [event('one'), event('two')], digestAtMs: NOW_MS })
    const after = withoutWaiting(waiting, ['one'], NOW_MS, OSLO)
    assert.deepEqual([after.waiting, after.digestAtMs], [[event('two')], NEXT_DIGEST_MS])
  })
})

describe('A type of event', () => {
  it('is told by mail when somebody has to act, or to know', () => {
    const types = [
      'request.waiting',
      'request.submitted',
      'link.failed',
      'link.recovered',
      'removals.held',
      'member.added',
    ]
    assert.deepEqual(
      types.filter((type) => isMailed({ type })),
      ['request.waiting', 'link.failed', 'removals.held'],
    )
  })
})
