import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { approvedBy, equals } from '../support/api/joinable-fixture.ts'
import { type MailFixture, type MailPerson, mailFixture, mailServer } from '../support/mail/mail-fixture.ts'

const server = mailServer()
const by = ({ identityId }: MailPerson) => approvedBy({ type: 'Identity', approvers: [identityId] })

/** The fixture, an approver and a requester. */
async function people(attributes: Readonly<Record<string, string>> = {}) {
  const fixture = await mailFixture(server)
  return { fixture, anna: await fixture.reader('Anna'), ola: await fixture.reader('Ola', attributes) }
}

async function evaluate(fixture: MailFixture): Promise<void> {
  await fixture.evaluator.evaluate(fixture.tenantId)
  await fixture.drain()
}

const subjectsTo = (fixture: MailFixture, person: MailPerson) => fixture.to(person).map(({ subject }) => subject)
const textsTo = (fixture: MailFixture, person: MailPerson) => fixture.to(person).map(({ text }) => text?.split('\n')[0])

describe('Of the requests of two identities that become one', () => {
  it('the one that ends is no news to a person whose other request waits', async () => {
    const { fixture, anna, ola } = await people()
    const twin = await fixture.reader('Twin')
    const collectionId = await fixture.joinable(by(anna))
    const { data: older } = await fixture.submit(ola, collectionId)
    fixture.pass(60)
    await fixture.submit(twin, collectionId)
    await fixture.drain()
    fixture.pass(60)
    await fixture.remove('identity', twin.identityId, { mergedInto: ola.identityId })
    await evaluate(fixture)
    assert.equal((await fixture.read(ola.token, older)).data.status, 'PendingApproval')
    assert.deepEqual(fixture.to(ola), [])
  })

  it('the one that ends is no news to a member', async () => {
    const { fixture, anna, ola } = await people()
    const twin = await fixture.reader('Twin')
    const collectionId = await fixture.joinable(by(anna))
    const path = `/collections-joinable/beta/${collectionId}/results/members`
    await fixture.call(fixture.admin, 'POST', path, { coreIdentityIds: [ola.identityId] })
    await fixture.submit(twin, collectionId)
    await fixture.drain()
    fixture.pass(60)
    await fixture.remove('identity', twin.identityId, { mergedInto: ola.identityId })
    await evaluate(fixture)
    assert.equal((await fixture.results(collectionId)).length, 1)
    assert.deepEqual(fixture.to(ola), [])
  })
})

const TEN_MINUTES_S = 600
const SEVEN_DAYS_S = 7 * 86_400

describe('A request of a person who is deleted', () => {
  it('is no news to the approver any more', async () => {
    const { fixture, anna, ola } = await people()
    await fixture.submit(ola, await fixture.joinable(by(anna)))
    await fixture.remove('identity', ola.identityId)
    await fixture.drain()
    await evaluate(fixture)
    await fixture.passWithMessages(TEN_MINUTES_S)
    assert.deepEqual(fixture.to(anna), [])
    assert.deepEqual(fixture.sent, [])
  })

  it('is told to the approver when the person is restored before the request ends', async () => {
    const { fixture, anna, ola } = await people()
    await fixture.submit(ola, await fixture.joinable(by(anna)))
    await fixture.remove('identity', ola.identityId)
    await fixture.drain()
    await fixture.put('identity', { displayName: 'Ola', email: ola.email }, ola.identityId)
    await fixture.passWithMessages(TEN_MINUTES_S)
    assert.deepEqual(subjectsTo(fixture, anna), ['Ola asks to join Choir'])
  })
})

describe('A request of a person who becomes one with another', () => {
  /** Their identity is merged before the mails are sent, and the request has not moved yet. */
  async function merged(fixture: MailFixture, person: MailPerson): Promise<MailPerson> {
    const twin = await fixture.reader('Twin')
    await fixture.remove('identity', person.identityId, { mergedInto: twin.identityId })
    return twin
  }

  it('is told to the approver, by the name of the other one, when it has moved there', async () => {
    const { fixture, anna, ola } = await people()
    await fixture.submit(ola, await fixture.joinable(by(anna)))
    await merged(fixture, ola)
    await fixture.passWithMessages(TEN_MINUTES_S)
    assert.deepEqual(fixture.mails(), [])
    await evaluate(fixture)
    await fixture.passWithMessages(TEN_MINUTES_S)
    assert.deepEqual(subjectsTo(fixture, anna), ['Twin asks to join Choir'])
  })

  it('stays in the digest of the approver until it has moved', async () => {
    const { fixture, anna, ola } = await people()
    await fixture.call(anna.token, 'PUT', '/collections/beta/me/notifications', { mail: 'Daily' })
    await fixture.submit(ola, await fixture.joinable(by(anna)))
    await fixture.drain()
    await merged(fixture, ola)
    await fixture.passWithMessages(24 * 3600)
    assert.deepEqual(fixture.mails(), [])
    await evaluate(fixture)
    await fixture.passWithMessages(TEN_MINUTES_S)
    assert.deepEqual(subjectsTo(fixture, anna), ['Twin asks to join Choir'])
  })

  for (const mail of ['Immediately', 'Daily'])
    it(`is told to nobody when it has not moved for seven days (${mail})`, async () => {
      const { fixture, anna, ola } = await people()
      await fixture.call(anna.token, 'PUT', '/collections/beta/me/notifications', { mail })
      await fixture.submit(ola, await fixture.joinable(by(anna)))
      if (mail === 'Daily') await fixture.drain()
      await merged(fixture, ola)
      await fixture.drain()
      fixture.pass(SEVEN_DAYS_S - TEN_MINUTES_S)
      await fixture.drain()
      assert.equal(fixture.sent.length, 1)
      await fixture.passWithMessages(2 * TEN_MINUTES_S)
      assert.deepEqual(fixture.sent, [])
      await evaluate(fixture)
      await fixture.passWithMessages(2 * 86_400)
      assert.deepEqual(fixture.mails(), [])
    })

  it('tells the decision to the other one', async () => {
    const { fixture, anna, ola } = await people()
    const { data: request } = await fixture.submit(ola, await fixture.joinable(by(anna)))
    await fixture.act(anna.token, request, 'approve')
    const twin = await merged(fixture, ola)
    await fixture.drainWithout('evaluations')
    assert.deepEqual(fixture.to(twin), [])
    await evaluate(fixture)
    await fixture.passWithMessages(TEN_MINUTES_S)
    assert.deepEqual(textsTo(fixture, twin), ['Your request was approved. You are now a member of Choir.'])
  })
})

describe('A request for a position', () => {
  for (const [language, handedOver, deleted] of [
    [
      'en',
      'Your request to become a member of Choir was cancelled by the service: the position that it was for was handed over to another person.',
      'Your request to become a member of Choir was cancelled by the service: your position, or your own record, was deleted at its source.',
    ],
    [
      'nb',
      'Tjenesten har avsluttet forespørselen din om å bli medlem av Choir: Stillingen som den gjaldt, er overført til en annen person.',
      'Tjenesten har avsluttet forespørselen din om å bli medlem av Choir: Stillingen din, eller oppføringen om deg, er slettet i kilden.',
    ],
  ] as const) {
    it(`ends with the position, and the mail says so (${language})`, async () => {
      const { fixture, anna, ola } = await people({ preferredLanguage: language })
      const [first, second] = [await fixture.position(ola), await fixture.position(ola)]
      const collectionId = await fixture.joinable(by(anna), { objectType: 'Relationship' })
      for (const relationshipId of [first, second]) await fixture.submit(ola, collectionId, { relationshipId })
      await evaluate(fixture)
      await fixture.put('relationship', { identity: { objectId: anna.identityId } }, first)
      await evaluate(fixture)
      assert.deepEqual(textsTo(fixture, ola), [handedOver])
      await fixture.remove('relationship', second)
      await evaluate(fixture)
      assert.deepEqual(textsTo(fixture, ola), [handedOver, deleted])
    })
  }
})

describe('A request for a later end', () => {
  for (const [language, subject, text] of [
    [
      'en',
      'Your request to stay longer in Choir has ended without a decision',
      'Your request to stay longer in Choir was cancelled by the service: it was not decided in time, or the collection is no longer open to you. The end of the membership stays as it was.',
    ],
    [
      'nb',
      'Forespørselen din om å bli lenger i Choir er avsluttet uten avgjørelse',
      'Tjenesten har avsluttet forespørselen din om å bli lenger i Choir: Den ble ikke avgjort i tide, eller samlingen er ikke lenger åpen for deg. Medlemskapet slutter når det skulle.',
    ],
  ] as const) {
    it(`is cancelled while the membership stays, and the mail says so (${language})`, async () => {
      const { fixture, anna, ola } = await people({ preferredLanguage: language })
      const staff = await fixture.criteria('Identity', equals('identityDisplayName', 'Ola'))
      const collectionId = await fixture.joinable({ ...by(anna), joinableBy: { collectionIds: [staff] } })
      const { data: request } = await fixture.submit(ola, collectionId, { endsAt: '2030-12-01' })
      await fixture.act(anna.token, request, 'approve')
      await fixture.act(ola.token, request, 'extend', { endsAt: '2031-12-01' })
      await fixture.drain()
      fixture.pass(60)
      const attributes = { email: ola.email, preferredLanguage: language, directoryObjectId: ola.account }
      await fixture.put('identity', { displayName: 'Ola Nordmann', ...attributes }, ola.identityId)
      const { data } = await fixture.act(anna.token, request, 'approve')
      await fixture.drain()
      assert.deepEqual([data.status, data.lifecycle.at(-1)?.status], ['Joined', 'Cancelled'])
      const mail = fixture.to(ola).at(-1)
      assert.deepEqual([mail?.subject, mail?.text?.split('\n')[0]], [subject, text])
    })
  }
})
