import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import { type GroupLink, newLink } from '../../shared/domain/group-links/group-link.ts'
import { updateLinkSettings } from '../../shared/domain/group-links/link-settings.ts'
import { OPEN } from '../support/api/joinable-fixture.ts'
import { receiver } from '../support/events/event-fixture.ts'
import { type MailFixture, mailFixture, mailServer } from '../support/mail/mail-fixture.ts'

const HOUR_S = 3_600
const server = mailServer()

async function operatedFixture(language: 'en' | 'no' = 'en') {
  const fixture = await mailFixture(server)
  const operators = [
    `one@${fixture.tenantId}.example`,
    `ONE@${fixture.tenantId}.example`,
    `two@${fixture.tenantId}.example`,
  ]
  const caller = { tenantId: fixture.tenantId, callerId: randomUUID(), ifMatch: undefined }
  await updateLinkSettings({ ...caller, change: { operators, language } }, fixture.service.links)
  return fixture
}

/** Records the outcome of a sync with its events, as a sync does. */
async function record(fixture: MailFixture, { id }: GroupLink, lastSyncOutcome: 'Failed' | 'Succeeded') {
  const { linkStore } = fixture.deps
  const { value, version } = (await linkStore.find(fixture.tenantId, id)) ?? assert.fail('no link')
  const lastSyncedAt = new Date(fixture.nowMs()).toISOString()
  await linkStore.replace({ ...value, lastSyncedAt, lastSyncOutcome }, version, undefined, value)
  await fixture.drain()
}

/** A link of a new collection, with what a sync has recorded. */
async function linkWith(
  fixture: MailFixture,
  directoryGroupDisplayName: string,
  changes: Partial<GroupLink> = {},
): Promise<GroupLink> {
  const collectionId = await fixture.joinable(OPEN)
  const names = { id: randomUUID(), tenantId: fixture.tenantId, collectionId, directoryGroupId: randomUUID() }
  const link = newLink({ ...names, directoryGroupDisplayName }, fixture.nowMs())
  await fixture.deps.linkStore.add({ ...link, ...changes })
  return link
}

const told = (fixture: MailFixture) => fixture.mails().map(({ to, subject }) => `${to[0]?.split('@')[0]}: ${subject}`)

async function tell(fixture: MailFixture, type: string, data: object): Promise<void> {
  const tellByMail = fixture.service.events.tellByMail ?? assert.fail('no mails')
  const event = {
    id: randomUUID(),
    type,
    time: new Date(fixture.nowMs()).toISOString(),
    subject: '/',
    data: { ...data },
  }
  await tellByMail(fixture.tenantId, [event])
  await fixture.drain()
}

describe('The operators of a tenant', () => {
  it('are told once when a connector is late, and subscribers also when it has recovered', async () => {
    const fixture = await operatedFixture()
    const hook = await receiver()
    await fixture.subscribe(hook.url, ['connector.*'])
    const connector = newConnector(
      { name: 'HR system', clientId: randomUUID(), expectedIntervalHours: 24 },
      { id: randomUUID(), createdBy: randomUUID(), createdAt: new Date(fixture.nowMs()).toISOString() },
    )
    const { connectors, objects } = fixture.service.connectors
    await objects.open(fixture.tenantId, connector.id)
    await connectors.add(fixture.tenantId, connector)
    const sweep = async () => {
      await fixture.service.messages.sweeps.handle({ tenantId: fixture.tenantId })
      await fixture.drain()
    }
    fixture.pass(24 * HOUR_S)
    await sweep()
    assert.deepEqual(told(fixture), [])
    fixture.pass(1)
    await sweep()
    fixture.pass(HOUR_S)
    await sweep()
    assert.deepEqual(told(fixture), ['ONE: The connector HR system is late', 'two: The connector HR system is late'])
    const { value, version } = (await connectors.find(fixture.tenantId, connector.id)) ?? assert.fail('no connector')
    await connectors.replace(fixture.tenantId, { ...value, expectedIntervalHours: 48 }, version)
    await sweep()
    assert.deepEqual(hook.types(), ['connector.late', 'connector.recovered'])
    assert.equal(told(fixture).length, 2)
    hook.close()
  })

  it('are told of links in the language of the settings, with the names of group and collection', async () => {
    const fixture = await operatedFixture('no')
    const planId = randomUUID()
    const figures = { count: 9, limit: 5, removedInWindow: 0, groupSize: 40 }
    const at = { createdAt: '2030-06-01T08:00:00.000Z', storedAtMs: Date.parse('2030-06-01T08:00:00Z') }
    const heldRemovals = { planId, reason: 'TooMany', ...figures, ...at } as const
    const recorded = { lastSyncOutcome: 'Failed', skippedCount: 1, isPauseTold: true, heldRemovals } as const
    const link = await linkWith(fixture, 'Korgruppen', recorded)
    for (const type of ['link.failed', 'link.paused', 'removals.held', 'link.recovered']) {
      await tell(fixture, type, { linkId: link.id, planId })
    }
    assert.deepEqual(
      told(fixture).filter((line) => line.startsWith('two')),
      [
        'two: Gruppen Korgruppen kunne ikke synkroniseres',
        'two: Ingen medlemmer fjernes fra gruppen Korgruppen',
        'two: Fjerninger fra gruppen Korgruppen venter på godkjenning',
      ],
    )
    assert.ok(fixture.mails()[0]?.text?.includes(`https://collections.example/console/links/${link.id}`))
  })

  it('are told in a digest of the links that still fail when it is sent, not of those that have recovered', async () => {
    const fixture = await operatedFixture()
    const [first, recovered, failing] = await Promise.all(
      ['First', 'Recovered', 'Failing'].map((name) => linkWith(fixture, name)),
    )
    if (first === undefined || recovered === undefined || failing === undefined) assert.fail('no links')
    await record(fixture, first, 'Failed')
    for (let count = 1; count < 50; count += 1) await tell(fixture, 'link.failed', { linkId: first.id })
    await record(fixture, recovered, 'Failed')
    await record(fixture, failing, 'Failed')
    await record(fixture, recovered, 'Succeeded')
    const ofTwo = () => told(fixture).filter((line) => line.startsWith('two'))
    assert.equal(ofTwo().length, 50)
    await fixture.passWithMessages(24 * HOUR_S)
    assert.deepEqual(ofTwo().slice(50), ['two: The group Failing could not be synchronized'])
    await record(fixture, recovered, 'Failed')
    assert.equal(ofTwo().at(-1), 'two: The group Recovered could not be synchronized')
  })

  it('are told of a disabled subscription by the host of its address alone', async () => {
    const fixture = await operatedFixture()
    const hook = await receiver(() => 410)
    await fixture.subscribe(`${hook.url}?key=a-secret`, ['collection.*'])
    await fixture.joinable(OPEN)
    await fixture.drain()
    const { host } = new URL(hook.url)
    assert.deepEqual(
      told(fixture),
      ['ONE', 'two'].map((name) => `${name}: The event subscription to ${host} was disabled`),
    )
    assert.ok(!JSON.stringify(fixture.mails()).includes('a-secret'))
    hook.close()
  })
})
