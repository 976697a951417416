import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { approvedBy } from '../support/api/joinable-world.ts'
import { type MailPerson, type MailWorld, mailServer, mailWorld } from '../support/mail/mail-world.ts'

const server = mailServer()
const NOTIFICATIONS = '/collections/beta/me/notifications'

/** Makes requests that wait for the decision of Anna. */
async function waiting(world: MailWorld, anna: MailPerson, count: number): Promise<void> {
  const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
  for (let index = 1; index <= count; index += 1) {
    await world.submit(await world.reader(`Person${index}`), collectionId)
    await world.drain()
  }
}

const prefer = async (world: MailWorld, { token }: MailPerson, mail: string) => {
  const { status, data } = await world.call(token, 'PUT', NOTIFICATIONS, { mail })
  assert.deepEqual([status, data], [200, { mail }])
}

describe('A person', () => {
  it('gets mails immediately until they choose otherwise', async () => {
    const world = await mailWorld(server)
    const anna = await world.reader('Anna')
    assert.deepEqual((await world.call(anna.token, 'GET', NOTIFICATIONS)).data, { mail: 'Immediately' })
    assert.equal((await world.call(anna.token, 'PUT', NOTIFICATIONS, { mail: 'Weekly' })).status, 400)
    await prefer(world, anna, 'None')
    await waiting(world, anna, 1)
    assert.deepEqual(world.mails(), [])
    await prefer(world, anna, 'Immediately')
    await waiting(world, anna, 1)
    assert.equal(world.to(anna).length, 1)
  })

  it('with daily mails gets one at 07:00, of what still waits then', async () => {
    const world = await mailWorld(server)
    const anna = await world.reader('Anna')
    await prefer(world, anna, 'Daily')
    await waiting(world, anna, 3)
    const { data } = await world.call<{ id: string; collectionId: string; requesterName: string }[]>(
      anna.token,
      'GET',
      `${world.requests}/inbox`,
    )
    await world.act(
      anna.token,
      data.find(({ requesterName }) => requesterName === 'Person1') ?? assert.fail(),
      'approve',
    )
    await world.passWithMessages(23 * 3600 - 60)
    assert.deepEqual(world.to(anna), [])
    await world.passWithMessages(120)
    const [digest, ...rest] = world.to(anna)
    assert.deepEqual([digest?.subject, rest.length], ['2 notifications', 0])
    assert.match(digest?.html ?? '', /<h2>Person2 asks to join Choir<\/h2>[\s\S]*<h2>Person3 asks to join Choir<\/h2>/)
    await world.passWithMessages(48 * 3600)
    assert.equal(world.to(anna).length, 1)
  })

  it('gets 50 mails a day, and the rest in one digest', async () => {
    const world = await mailWorld(server)
    const anna = await world.reader('Anna')
    await waiting(world, anna, 53)
    assert.equal(world.to(anna).length, 50)
    await world.passWithMessages(24 * 3600)
    assert.deepEqual([world.to(anna).length, world.to(anna).at(-1)?.subject], [51, '3 notifications'])
  })

  it('without a valid address gets none, and others do', async () => {
    const world = await mailWorld(server)
    const anna = await world.reader('Anna')
    const other = await world.person(['User'], { displayName: 'Other', email: 'a@b.example\r\nBcc: c@d.example' })
    const approvers = [other.identityId, anna.identityId]
    await world.submit(await world.reader('Ola'), await world.joinable(approvedBy({ type: 'Identity', approvers })))
    await world.drain()
    assert.deepEqual(
      world.mails().map(({ to }) => to),
      [[anna.email]],
    )
  })
})

describe('A mail', () => {
  it('is sent once when its messages come again, also at the same time', async () => {
    const world = await mailWorld(server)
    const anna = await world.reader('Anna')
    await waiting(world, anna, 1)
    const message = { tenantId: world.tenantId }
    await Promise.all([1, 2, 3].map(() => world.service.messages.mails.handle(message)))
    await Promise.all([1, 2, 3].map(() => world.newService().messages.mails.handle(message)))
    assert.equal(world.to(anna).length, 1)
  })

  it('is sent once when its event is published again', async () => {
    const world = await mailWorld(server)
    const anna = await world.reader('Anna')
    const told = world.service.events.tellByMail ?? assert.fail('no mails')
    const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    const { data: request } = await world.submit(await world.reader('Ola'), collectionId)
    const at = request.lifecycle.at(-1)?.at ?? assert.fail()
    const data = { requestId: request.id, collectionId, actorId: request.requesterId }
    const event = { id: randomUUID(), type: 'request.waiting', time: at, subject: '/', data }
    await world.drain()
    for (let count = 0; count < 3; count += 1) {
      await told(world.tenantId, [event])
      await world.drain()
    }
    assert.equal(world.to(anna).length, 2)
  })

  it('comes after the directory was busy, once, with the same id when it may have been sent', async () => {
    const world = await mailWorld(server)
    const anna = await world.reader('Anna')
    const { server: directory } = server.directory()
    const faults = [
      { method: 'POST', path: '/sendMail$', times: 1, status: 429 },
      { method: 'POST', path: '/sendMail$', times: 1, applyFirst: true },
    ]
    directory.setFaults(faults)
    const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    await world.submit(await world.reader('Ola'), collectionId)
    await assert.rejects(world.drain())
    const message = { tenantId: world.tenantId }
    await assert.rejects(world.service.messages.mails.handle(message))
    await world.service.messages.mails.handle(message)
    await world.service.messages.mails.handle(message)
    const ids = world.to(anna).map(({ messageId }) => messageId)
    assert.deepEqual([ids.length, new Set(ids).size], [2, 1])
  })

  it('that was lost with its message is sent by the sweep', async () => {
    const world = await mailWorld(server)
    const anna = await world.reader('Anna')
    const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    await world.submit(await world.reader('Ola'), collectionId)
    await world.drainWithout('mails')
    world.pass(600)
    await world.service.sweeps.since(world.nowMs() - 600_000)
    await world.drain()
    assert.equal(world.to(anna).length, 1)
  })
})
