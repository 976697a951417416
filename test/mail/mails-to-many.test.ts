import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { approvedBy, OPEN } from '../support/api/joinable-fixture.ts'
import { type MailFixture, type MailPerson, mailFixture, mailServer } from '../support/mail/mail-fixture.ts'

const server = mailServer()

const prefer = async (fixture: MailFixture, { token }: MailPerson, mail: string) => {
  const { status } = await fixture.call(token, 'PUT', '/collections/beta/me/notifications', { mail })
  assert.equal(status, 200)
}

async function readers(fixture: MailFixture, count: number): Promise<MailPerson[]> {
  const found: MailPerson[] = []
  for (let index = 1; index <= count; index += 1) found.push(await fixture.reader(`Reader${index}`))
  return found
}

/** Handles the messages about mails that are due until none is. Returns how long each took, in ms. */
async function durations(fixture: MailFixture): Promise<number[]> {
  const found: number[] = []
  for (;;) {
    const index = fixture.sent.findIndex(({ dueMs }) => dueMs <= fixture.nowMs())
    if (index < 0) return found
    fixture.sent.splice(index, 1)
    const startMs = fixture.nowMs()
    await fixture.service.messages.mails.handle({ tenantId: fixture.tenantId })
    found.push(fixture.nowMs() - startMs)
  }
}

const startMails = (fixture: MailFixture) =>
  fixture.sent.push({ message: { queue: 'mails', message: { tenantId: fixture.tenantId } }, dueMs: fixture.nowMs() })

const told = (fixture: MailFixture, people: readonly MailPerson[]) => people.map((person) => fixture.to(person).length)

/** The service, whose mails take half a minute each. */
async function slowFixture(): Promise<MailFixture> {
  const slow = () => {
    const mailer = server.mailer()
    const send: typeof mailer.send = (mail) => {
      fixture.pass(30)
      return mailer.send(mail)
    }
    return { send }
  }
  const fixture = await mailFixture({ ...server, mailer: slow })
  return fixture
}

describe('An event that is told to many people', () => {
  it('is told to each of them once, by several short runs where mails are slow', async () => {
    const fixture = await slowFixture()
    const approvers = await readers(fixture, 14)
    const [daily = assert.fail(), none = assert.fail(), ...immediate] = approvers
    await prefer(fixture, daily, 'Daily')
    await prefer(fixture, none, 'None')
    const policy = approvedBy({ type: 'Identity', approvers: approvers.map(({ identityId }) => identityId) })
    await fixture.submit(await fixture.reader('Ola'), await fixture.joinable(policy))
    await fixture.drainWithout('mails')
    startMails(fixture)
    assert.deepEqual(await durations(fixture), [150_000, 150_000, 60_000])
    assert.deepEqual(told(fixture, immediate), Array(12).fill(1))
    await fixture.passWithMessages(24 * 3600)
    assert.deepEqual([told(fixture, immediate), told(fixture, [daily, none])], [Array(12).fill(1), [1, 0]])
  })
})

describe('What waits for the daily mail of an approver, before others become approvers,', () => {
  /** A request waits for its approvers: one with daily mails at first, and six others then. */
  async function waitingForMany() {
    const fixture = await slowFixture()
    const [daily = assert.fail(), ...others] = await readers(fixture, 7)
    await prefer(fixture, daily, 'Daily')
    const board = await fixture.joinable(OPEN)
    const members = `/collections-joinable/beta/${board}/results/members`
    const change = async (method: string, people: readonly MailPerson[]) => {
      const coreIdentityIds = people.map(({ identityId }) => identityId)
      assert.equal((await fixture.call(fixture.admin, method, members, { coreIdentityIds })).status, 200)
    }
    await change('POST', [daily])
    await fixture.submit(
      await fixture.reader('Ola'),
      await fixture.joinable(approvedBy({ type: 'Collection', approvers: [board] })),
    )
    await fixture.drain()
    await change('POST', others)
    await fixture.drain()
    return { fixture, daily, others, change }
  }

  it('is told to none of them when that one is no approver any more', async () => {
    const { fixture, daily, others, change } = await waitingForMany()
    await change('DELETE', [daily])
    await fixture.drain()
    fixture.pass(24 * 3600)
    await durations(fixture)
    assert.deepEqual([told(fixture, [daily]), told(fixture, others)], [[0], Array(6).fill(0)])
  })

  it('is told to each of them once, by several short runs, when that one is a part of another person', async () => {
    const { fixture, daily, others } = await waitingForMany()
    await fixture.remove('identity', daily.identityId, { mergedInto: others[0]?.identityId ?? assert.fail() })
    await fixture.evaluator.evaluate(fixture.tenantId)
    await fixture.drain()
    fixture.pass(24 * 3600)
    const found = await durations(fixture)
    assert.deepEqual([told(fixture, [daily]), told(fixture, others)], [[0], Array(6).fill(1)])
    assert.deepEqual(
      found.filter((durationMs) => durationMs > 0),
      [150_000, 30_000],
    )
  })
})
