import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { approvedBy, OPEN } from '../support/api/joinable-fixture.ts'
import { mailFixture, mailServer, SENDER } from '../support/mail/mail-fixture.ts'

const DAY_S = 86_400
const server = mailServer()

describe('A request that waits at a gate', () => {
  it('is told to its approver by mail, with both bodies and a link to it', async () => {
    const fixture = await mailFixture(server)
    const [anna, ola] = [await fixture.reader('Anna'), await fixture.reader('Ola')]
    const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    const { data: request } = await fixture.submit(ola, collectionId)
    await fixture.drain()
    const [mail, ...rest] = fixture.mails()
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
    const fixture = await mailFixture(server)
    const [anna, dag, ola] = [await fixture.reader('Anna'), await fixture.reader('Dag'), await fixture.reader('Ola')]
    const deputy = { deputyId: dag.identityId, until: '2030-07-01' }
    await fixture.call(anna.token, 'PUT', `${fixture.requests}/deputy`, deputy)
    const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    await fixture.submit(ola, collectionId)
    await fixture.submit(dag, collectionId)
    await fixture.drain()
    assert.deepEqual(
      fixture.to(dag).map(({ subject }) => subject),
      ['Ola asks to join Choir'],
    )
    assert.match(fixture.to(dag)[0]?.text ?? '', /You decide on behalf of Anna, as their deputy\./)
    assert.equal(fixture.to(anna).length, 2)
  })

  it('is told to the approver of a gate that a changed policy puts before its own, and of one that replaces it', async () => {
    const fixture = await mailFixture(server)
    const [anna, bo, cara] = [await fixture.reader('Anna'), await fixture.reader('Bo'), await fixture.reader('Cara')]
    const of = ({ identityId }: { identityId: string }) => ({ type: 'Identity', approvers: [identityId] })
    const collectionId = await fixture.joinable(approvedBy(of(anna)))
    const change = async (joinPolicy: object) => {
      fixture.pass(60)
      const path = `/collections-joinable/beta/${collectionId}`
      assert.equal((await fixture.call(fixture.admin, 'PUT', path, { objectType: 'Identity', joinPolicy })).status, 200)
      await fixture.drain()
    }
    await fixture.submit(await fixture.reader('Ola'), collectionId)
    await fixture.drain()
    await change(approvedBy(of(bo), of(anna)))
    const told = () => [anna, bo, cara].map((person) => fixture.to(person).length)
    assert.deepEqual(told(), [1, 1, 0])
    await change(approvedBy(of(cara), of(anna)))
    assert.deepEqual(told(), [1, 1, 1])
  })

  it('is not told any more once it was withdrawn', async () => {
    const fixture = await mailFixture(server)
    const [anna, ola] = [await fixture.reader('Anna'), await fixture.reader('Ola')]
    const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    const { data: request } = await fixture.submit(ola, collectionId)
    await fixture.act(ola.token, request, 'cancel')
    await fixture.drain()
    assert.deepEqual(fixture.mails(), [])
  })

  it('is reminded of after the days of the gate, again and again, until it is decided', async () => {
    const fixture = await mailFixture(server)
    const [anna, ola] = [await fixture.reader('Anna'), await fixture.reader('Ola')]
    const gate = { type: 'Identity', approvers: [anna.identityId], reminderDays: 2 }
    const collectionId = await fixture.joinable(approvedBy(gate))
    const { data: request } = await fixture.submit(ola, collectionId)
    await fixture.passWithSweeps(2 * DAY_S - 60)
    assert.equal(fixture.to(anna).length, 1)
    await fixture.passWithMessages(2 * 60)
    const reminder = fixture.to(anna)[1]
    assert.equal(reminder?.subject, 'Reminder: the request of Ola for Choir is still waiting')
    await fixture.passWithSweeps(2 * DAY_S)
    assert.equal(fixture.to(anna).length, 3)
    await fixture.act(anna.token, request, 'approve')
    await fixture.passWithSweeps(6 * DAY_S)
    assert.equal(fixture.to(anna).length, 3)
  })
})

describe('A decision', () => {
  it('is told to the requester, in the language that they prefer, without the notes', async () => {
    const fixture = await mailFixture(server)
    const [anna, ola] = [await fixture.reader('Anna'), await fixture.reader('Ola', { preferredLanguage: 'nb-NO' })]
    const collectionId = await fixture.joinable(approvedBy({ type: 'Identity', approvers: [anna.identityId] }))
    const { data: first } = await fixture.submit(ola, collectionId)
    await fixture.act(anna.token, first, 'reject', { notes: 'A secret reason' })
    await fixture.drain()
    const { data: second } = await fixture.submit(ola, collectionId, { endsAt: '2031-01-15T12:00:00Z' })
    await fixture.act(anna.token, second, 'approve')
    await fixture.drain()
    const told = fixture.to(ola)
    assert.deepEqual(
      told.map(({ subject }) => subject),
      ['Forespørselen din om Choir er avslått', 'Du er nå medlem av Choir'],
    )
    assert.match(told[1]?.text ?? '', /Medlemskapet slutter 15\. januar 2031/)
    assert.match(told[1]?.html ?? '', /<html lang="nb">/)
    assert.ok(!JSON.stringify(told).includes('secret'))
  })

  it('that a person takes alone is told to nobody', async () => {
    const fixture = await mailFixture(server)
    const ola = await fixture.reader('Ola')
    await fixture.submit(ola, await fixture.joinable(OPEN))
    await fixture.drain()
    assert.deepEqual(fixture.mails(), [])
  })

  it('that did not come in time is told to the requester', async () => {
    const fixture = await mailFixture(server)
    const [anna, ola] = [await fixture.reader('Anna'), await fixture.reader('Ola')]
    const gates = approvedBy({ type: 'Identity', approvers: [anna.identityId] })
    await fixture.submit(ola, await fixture.joinable({ ...gates, requestDays: 1 }))
    await fixture.passWithMessages(DAY_S + 60)
    assert.deepEqual(
      fixture.to(ola).map(({ subject }) => subject),
      ['Your request for Choir has ended without a decision'],
    )
  })
})

describe('The end of a membership', () => {
  it('is told seven days before, once', async () => {
    const fixture = await mailFixture(server)
    const ola = await fixture.reader('Ola')
    const collectionId = await fixture.joinable(OPEN)
    await fixture.submit(ola, collectionId, { endsAt: '2030-06-11T08:00:00Z' })
    await fixture.passWithSweeps(3 * DAY_S - 3_600)
    assert.deepEqual(fixture.to(ola), [])
    await fixture.passWithSweeps(2 * 3_600)
    const [mail] = fixture.to(ola)
    assert.equal(mail?.subject, 'Your membership of Choir ends soon')
    assert.match(mail?.text ?? '', /ends on 11 June 2030 at 08:00\./)
    await fixture.passWithSweeps(8 * DAY_S)
    assert.equal(fixture.to(ola).length, 1)
  })

  it('is told at once when fewer days remain, and again when it was put off', async () => {
    const fixture = await mailFixture(server)
    const ola = await fixture.reader('Ola')
    const collectionId = await fixture.joinable(OPEN)
    const { data: request } = await fixture.submit(ola, collectionId, { endsAt: '2030-06-03T08:00:00Z' })
    await fixture.drain()
    assert.equal(fixture.to(ola).length, 1)
    await fixture.act(ola.token, request, 'extend', { endsAt: '2030-06-12T08:00:00Z' })
    await fixture.passWithSweeps(5 * DAY_S)
    assert.deepEqual(
      fixture.to(ola).map(({ text }) => /ends on (.*?) at/.exec(text ?? '')?.[1]),
      ['3 June 2030', '12 June 2030'],
    )
  })
})
