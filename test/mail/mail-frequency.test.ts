import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { approvedBy } from '../support/api/joinable-fixture.ts'
import { type MailFixture, type MailPerson, mailFixture, mailServer } from '../support/mail/mail-fixture.ts'

const server = mailServer()
const NOTIFICATIONS = '/collections/beta/me/notifications'

/** Makes requests that wait for the decision of Anna. */
async function waiting(fixture: MailFixture, anna: MailPerson, count: number): Promise<void> {
  const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
  for (let index = 1; index <= count; index += 1) {
    await fixture.submit(await fixture.reader(`Person${index}`), collectionId)
    await fixture.drain()
  }
}

const prefer = async (fixture: MailFixture, { token }: MailPerson, mail: string) => {
  const { status, data } = await fixture.call(token, 'PUT', NOTIFICATIONS, { mail })
  assert.deepEqual([status, data], [200, { mail }])
}

describe('A person', () => {
  it('gets mails immediately until they choose otherwise', async () => {
    const fixture = await mailFixture(server)
    const anna = await fixture.reader('Anna')
    assert.deepEqual((await fixture.call(anna.token, 'GET', NOTIFICATIONS)).data, { mail: 'Immediately' })
    assert.equal((await fixture.call(anna.token, 'PUT', NOTIFICATIONS, { mail: 'Weekly' })).status, 400)
    await prefer(fixture, anna, 'None')
    await waiting(fixture, anna, 1)
    assert.deepEqual(fixture.mails(), [])
    await prefer(fixture, anna, 'Immediately')
    await waiting(fixture, anna, 1)
    assert.equal(fixture.to(anna).length, 1)
  })

  it('with daily mails gets one at 07:00, of what still waits then', async () => {
    const fixture = await mailFixture(server)
    const anna = await fixture.reader('Anna')
    await prefer(fixture, anna, 'Daily')
    await waiting(fixture, anna, 3)
    const { data } = await fixture.call<{ id: string; collectionId: string; requesterName: string }[]>(
      anna.token,
      'GET',
      `${fixture.requests}/inbox`,
    )
    await fixture.act(
      anna.token,
      data.find(({ requesterName }) => requesterName === 'Person1') ?? assert.fail(),
      'approve',
    )
    await fixture.passWithMessages(23 * 3600 - 60)
    assert.deepEqual(fixture.to(anna), [])
    await fixture.passWithMessages(120)
    const [digest, ...rest] = fixture.to(anna)
    assert.deepEqual([digest?.subject, rest.length], ['2 notifications', 0])
    assert.match(digest?.html ?? '', /<h2>Person2 asks to join Choir<\/h2>[\s\S]*<h2>Person3 asks to join Choir<\/h2>/)
    await fixture.passWithMessages(48 * 3600)
    assert.equal(fixture.to(anna).length, 1)
  })

  it('with daily mails is not told of a membership that has ended until then', async () => {
    const fixture = await mailFixture(server)
    const [anna, ola] = [await fixture.reader('Anna'), await fixture.reader('Ola')]
    await prefer(fixture, ola, 'Daily')
    const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    const { data: request } = await fixture.submit(ola, collectionId)
    await fixture.act(anna.token, request, 'approve')
    await fixture.drain()
    fixture.pass(60)
    const path = `/collections-joinable/beta/${collectionId}/results/members`
    await fixture.call(fixture.admin, 'DELETE', path, { coreIdentityIds: [ola.identityId] })
    await fixture.passWithMessages(24 * 3600)
    assert.deepEqual(fixture.to(ola), [])
  })

  for (const [mail, count] of [
    ['Immediately', 1],
    ['None', 0],
  ] as const) {
    it(`who wants mails ${mail} gets ${count} of a decision that waits for a part of them with daily mails`, async () => {
      const fixture = await mailFixture(server)
      const [anna, ola, part] = [
        await fixture.reader('Anna'),
        await fixture.reader('Ola'),
        await fixture.reader('Part'),
      ]
      await prefer(fixture, part, 'Daily')
      await prefer(fixture, ola, mail)
      const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
      const { data: request } = await fixture.submit(part, collectionId)
      await fixture.act(anna.token, request, 'approve')
      await fixture.drain()
      await fixture.remove('identity', part.identityId, { mergedInto: ola.identityId })
      await fixture.evaluator.evaluate(fixture.tenantId)
      await fixture.passWithMessages(48 * 3600)
      assert.deepEqual(
        fixture.to(ola).map(({ subject }) => subject),
        Array(count).fill('You are now a member of Choir'),
      )
    })
  }

  it('is told once of what waits for a part of them, and of which other approvers were told', async () => {
    const fixture = await mailFixture(server)
    const [anna, ola, part] = [await fixture.reader('Anna'), await fixture.reader('Ola'), await fixture.reader('Part')]
    await prefer(fixture, part, 'Daily')
    const approvers = [anna.identityId, part.identityId]
    const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers }))
    await fixture.submit(await fixture.reader('Person'), collectionId)
    await fixture.drain()
    await fixture.remove('identity', part.identityId, { mergedInto: ola.identityId })
    await fixture.evaluator.evaluate(fixture.tenantId)
    await fixture.passWithMessages(48 * 3600)
    assert.deepEqual([fixture.to(anna).length, fixture.to(ola).length, fixture.to(part).length], [1, 1, 0])
  })

  it('gets 50 mails a day, and the rest in one digest', async () => {
    const fixture = await mailFixture(server)
    const anna = await fixture.reader('Anna')
    await waiting(fixture, anna, 53)
    assert.equal(fixture.to(anna).length, 50)
    await fixture.passWithMessages(24 * 3600)
    assert.deepEqual([fixture.to(anna).length, fixture.to(anna).at(-1)?.subject], [51, '3 notifications'])
  })

  it('without a valid address gets none, and others do', async () => {
    const fixture = await mailFixture(server)
    const anna = await fixture.reader('Anna')
    const other = await fixture.person(['User'], { displayName: 'Other', email: 'a@b.example\r\nBcc: c@d.example' })
    const approvers = [other.identityId, anna.identityId]
    await fixture.submit(
      await fixture.reader('Ola'),
      await fixture.joinable(approvedBy({ type: 'Identity', approvers })),
    )
    await fixture.drain()
    assert.deepEqual(
      fixture.mails().map(({ to }) => to),
      [[anna.email]],
    )
  })
})

describe('A mail', () => {
  it('is sent once when its messages come again, also at the same time', async () => {
    const fixture = await mailFixture(server)
    const anna = await fixture.reader('Anna')
    await waiting(fixture, anna, 1)
    const message = { tenantId: fixture.tenantId }
    await Promise.all([1, 2, 3].map(() => fixture.service.messages.mails.handle(message)))
    await Promise.all([1, 2, 3].map(() => fixture.newService().messages.mails.handle(message)))
    assert.equal(fixture.to(anna).length, 1)
  })

  it('is sent once when its event is published again', async () => {
    const fixture = await mailFixture(server)
    const anna = await fixture.reader('Anna')
    const told = fixture.service.events.tellByMail ?? assert.fail('no mails')
    const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    const { data: request } = await fixture.submit(await fixture.reader('Ola'), collectionId)
    const at = request.lifecycle.at(-1)?.at ?? assert.fail()
    const data = { requestId: request.id, collectionId, actorId: request.requesterId }
    const event = { id: randomUUID(), type: 'request.waiting', time: at, subject: '/', data }
    await fixture.drain()
    for (let count = 0; count < 3; count += 1) {
      await told(fixture.tenantId, [event])
      await fixture.drain()
    }
    assert.equal(fixture.to(anna).length, 2)
  })

  it('comes after the directory was busy, once, with the same id when it may have been sent', async () => {
    const fixture = await mailFixture(server)
    const anna = await fixture.reader('Anna')
    const { server: directory } = server.directory()
    const faults = [
      { method: 'POST', path: '/sendMail$', times: 1, status: 429 },
      { method: 'POST', path: '/sendMail$', times: 1, applyFirst: true },
    ]
    directory.setFaults(faults)
    const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    await fixture.submit(await fixture.reader('Ola'), collectionId)
    await assert.rejects(fixture.drain())
    const message = { tenantId: fixture.tenantId }
    await assert.rejects(fixture.service.messages.mails.handle(message))
    await fixture.service.messages.mails.handle(message)
    await fixture.service.messages.mails.handle(message)
    const ids = fixture.to(anna).map(({ messageId }) => messageId)
    assert.deepEqual([ids.length, new Set(ids).size], [2, 1])
  })

  it('is given up when the directory has accepted none for seven days', async () => {
    const fixture = await mailFixture(server)
    const anna = await fixture.reader('Anna')
    server.directory().server.setFaults([{ method: 'POST', path: '/sendMail$', times: 2, status: 429 }])
    const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    await fixture.submit(await fixture.reader('Ola'), collectionId)
    await assert.rejects(fixture.drain())
    const message = { tenantId: fixture.tenantId }
    fixture.pass(7 * 86_400 - 60)
    await assert.rejects(fixture.service.messages.mails.handle(message))
    fixture.pass(120)
    await fixture.service.messages.mails.handle(message)
    assert.deepEqual(fixture.to(anna), [])
  })

  it('that was lost with its message is sent by the sweep', async () => {
    const fixture = await mailFixture(server)
    const anna = await fixture.reader('Anna')
    const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    await fixture.submit(await fixture.reader('Ola'), collectionId)
    await fixture.drainWithout('mails')
    fixture.pass(600)
    await fixture.service.sweeps.since(fixture.nowMs() - 600_000)
    await fixture.drain()
    assert.equal(fixture.to(anna).length, 1)
  })
})
