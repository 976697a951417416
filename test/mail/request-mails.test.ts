import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { approvedBy, OPEN } from '../support/api/joinable-world.ts'
import { mailServer, mailWorld, SENDER } from '../support/mail/mail-world.ts'

const DAY_S = 86_400
const server = mailServer()

describe('A request that waits at a gate', () => {
  it('is told to its approver by mail, with both bodies and a link to it', async () => {
    const world = await mailWorld(server)
    const [anna, ola] = [await world.reader('Anna'), await world.reader('Ola')]
    const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    const { data: request } = await world.submit(ola, collectionId)
    await world.drain()
    const [mail, ...rest] = world.mails()
    assert.deepEqual(rest, [])
    assert.deepEqual([mail?.from, mail?.to], [SENDER, [anna.email]])
    assert.equal(mail?.subject, 'Ola asks to join Choir')
    const link = `https://collections.example/console/inbox/${collectionId}/${request.id}`
    assert.match(mail?.text ?? '', /Ola asks to become a member of Choir\. The request waits for your decision\./)
    assert.ok(mail?.text?.includes(link))
    assert.ok(mail?.html?.includes(`<a href="${link}">Review the request</a>`))
    assert.match(mail?.messageId ?? '', /^<[0-9a-f-]{36}@one\.example>$/)
  })

  it('is told to the deputy of an approver, on whose behalf, but not to one who asks themselves', async () => {
    const world = await mailWorld(server)
    const [anna, dag, ola] = [await world.reader('Anna'), await world.reader('Dag'), await world.reader('Ola')]
    const deputy = { deputyId: dag.identityId, until: '2030-07-01' }
    await world.call(anna.token, 'PUT', `${world.requests}/deputy`, deputy)
    const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    await world.submit(ola, collectionId)
    await world.submit(dag, collectionId)
    await world.drain()
    assert.deepEqual(
      world.to(dag).map(({ subject }) => subject),
      ['Ola asks to join Choir'],
    )
    assert.match(world.to(dag)[0]?.text ?? '', /You decide on behalf of Anna, as their deputy\./)
    assert.equal(world.to(anna).length, 2)
  })

  it('is not told any more once it was withdrawn', async () => {
    const world = await mailWorld(server)
    const [anna, ola] = [await world.reader('Anna'), await world.reader('Ola')]
    const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    const { data: request } = await world.submit(ola, collectionId)
    await world.act(ola.token, request, 'cancel')
    await world.drain()
    assert.deepEqual(world.mails(), [])
  })

  it('is reminded of after the days of the gate, again and again, until it is decided', async () => {
    const world = await mailWorld(server)
    const [anna, ola] = [await world.reader('Anna'), await world.reader('Ola')]
    const gate = { type: 'Identity', approvers: [anna.identityId], reminderDays: 2 }
    const collectionId = await world.joinable(approvedBy(gate))
    const { data: request } = await world.submit(ola, collectionId)
    await world.passWithSweeps(2 * DAY_S - 60)
    assert.equal(world.to(anna).length, 1)
    await world.passWithMessages(2 * 60)
    const reminder = world.to(anna)[1]
    assert.equal(reminder?.subject, 'Reminder: the request of Ola for Choir is still waiting')
    await world.passWithSweeps(2 * DAY_S)
    assert.equal(world.to(anna).length, 3)
    await world.act(anna.token, request, 'approve')
    await world.passWithSweeps(6 * DAY_S)
    assert.equal(world.to(anna).length, 3)
  })
})

describe('A decision', () => {
  it('is told to the requester, in the language that they prefer, without the notes', async () => {
    const world = await mailWorld(server)
    const [anna, ola] = [await world.reader('Anna'), await world.reader('Ola', { preferredLanguage: 'nb-NO' })]
    const collectionId = await world.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    const { data: first } = await world.submit(ola, collectionId)
    await world.act(anna.token, first, 'reject', { notes: 'A secret reason' })
    await world.drain()
    const { data: second } = await world.submit(ola, collectionId, { endsAt: '2031-01-15T12:00:00Z' })
    await world.act(anna.token, second, 'approve')
    await world.drain()
    const told = world.to(ola)
    assert.deepEqual(
      told.map(({ subject }) => subject),
      ['Forespørselen din om Choir er avslått', 'Du er nå medlem av Choir'],
    )
    assert.match(told[1]?.text ?? '', /Medlemskapet slutter 15\. januar 2031/)
    assert.match(told[1]?.html ?? '', /<html lang="nb">/)
    assert.ok(!JSON.stringify(told).includes('secret'))
  })

  it('that a person takes alone is told to nobody', async () => {
    const world = await mailWorld(server)
    const ola = await world.reader('Ola')
    await world.submit(ola, await world.joinable(OPEN))
    await world.drain()
    assert.deepEqual(world.mails(), [])
  })

  it('that did not come in time is told to the requester', async () => {
    const world = await mailWorld(server)
    const [anna, ola] = [await world.reader('Anna'), await world.reader('Ola')]
    const gates = approvedBy({ type: 'Identity', approvers: [anna.identityId] })
    await world.submit(ola, await world.joinable({ ...gates, requestDays: 1 }))
    await world.passWithMessages(DAY_S + 60)
    assert.deepEqual(
      world.to(ola).map(({ subject }) => subject),
      ['Your request for Choir has ended without a decision'],
    )
  })
})

describe('The end of a membership', () => {
  it('is told seven days before, once', async () => {
    const world = await mailWorld(server)
    const ola = await world.reader('Ola')
    const collectionId = await world.joinable(OPEN)
    await world.submit(ola, collectionId, { endsAt: '2030-06-11T08:00:00Z' })
    await world.passWithSweeps(3 * DAY_S - 3_600)
    assert.deepEqual(world.to(ola), [])
    await world.passWithSweeps(2 * 3_600)
    const [mail] = world.to(ola)
    assert.equal(mail?.subject, 'Your membership of Choir ends soon')
    assert.match(mail?.text ?? '', /ends on 11 June 2030 at 08:00\./)
    await world.passWithSweeps(8 * DAY_S)
    assert.equal(world.to(ola).length, 1)
  })

  it('is told at once when fewer days remain, and again when it was put off', async () => {
    const world = await mailWorld(server)
    const ola = await world.reader('Ola')
    const collectionId = await world.joinable(OPEN)
    const { data: request } = await world.submit(ola, collectionId, { endsAt: '2030-06-03T08:00:00Z' })
    await world.drain()
    assert.equal(world.to(ola).length, 1)
    await world.act(ola.token, request, 'extend', { endsAt: '2030-06-12T08:00:00Z' })
    await world.passWithSweeps(5 * DAY_S)
    assert.deepEqual(
      world.to(ola).map(({ text }) => /ends on (.*?) at/.exec(text ?? '')?.[1]),
      ['3 June 2030', '12 June 2030'],
    )
  })
})
