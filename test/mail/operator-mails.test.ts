import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { newConnector } from '../../shared/domain/connectors/connector.ts'
import { newLink } from '../../shared/domain/group-links/group-link.ts'
import { updateLinkSettings } from '../../shared/domain/group-links/link-settings.ts'
import { OPEN } from '../support/api/joinable-world.ts'
import { receiver } from '../support/events/event-world.ts'
import { type MailWorld, mailServer, mailWorld } from '../support/mail/mail-world.ts'

const HOUR_S = 3_600
const server = mailServer()

async function operatedWorld(language: 'en' | 'no' = 'en') {
  const world = await mailWorld(server)
  const operators = [`one@${world.tenantId}.example`, `ONE@${world.tenantId}.example`, `two@${world.tenantId}.example`]
  const caller = { tenantId: world.tenantId, callerId: randomUUID(), ifMatch: undefined }
  await updateLinkSettings({ ...caller, change: { operators, language } }, world.service.links)
  return world
}

const told = (world: MailWorld) => world.mails().map(({ to, subject }) => `${to[0]?.split('@')[0]}: ${subject}`)

async function tell(world: MailWorld, type: string, data: object): Promise<void> {
  const tellByMail = world.service.events.tellByMail ?? assert.fail('no mails')
  const event = { id: randomUUID(), type, time: new Date(world.nowMs()).toISOString(), subject: '/', data: { ...data } }
  await tellByMail(world.tenantId, [event])
  await world.drain()
}

describe('The operators of a tenant', () => {
  it('are told once when a connector is late, and subscribers also when it has recovered', async () => {
    const world = await operatedWorld()
    const hook = await receiver()
    await world.subscribe(hook.url, ['connector.*'])
    const connector = newConnector(
      { name: 'HR system', clientId: randomUUID(), expectedIntervalHours: 24 },
      { id: randomUUID(), createdBy: randomUUID(), createdAt: new Date(world.nowMs()).toISOString() },
    )
    const { connectors, objects } = world.service.connectors
    await objects.open(world.tenantId, connector.id)
    await connectors.add(world.tenantId, connector)
    const sweep = async () => {
      await world.service.messages.sweeps.handle({ tenantId: world.tenantId })
      await world.drain()
    }
    world.pass(24 * HOUR_S)
    await sweep()
    assert.deepEqual(told(world), [])
    world.pass(1)
    await sweep()
    world.pass(HOUR_S)
    await sweep()
    assert.deepEqual(told(world), ['ONE: The connector HR system is late', 'two: The connector HR system is late'])
    const { value, version } = (await connectors.find(world.tenantId, connector.id)) ?? assert.fail('no connector')
    await connectors.replace(world.tenantId, { ...value, expectedIntervalHours: 48 }, version)
    await sweep()
    assert.deepEqual(hook.types(), ['connector.late', 'connector.recovered'])
    assert.equal(told(world).length, 2)
    hook.close()
  })

  it('are told of links in the language of the settings, with the names of group and collection', async () => {
    const world = await operatedWorld('no')
    const collectionId = await world.joinable(OPEN)
    const link = newLink(
      {
        ...{ id: randomUUID(), tenantId: world.tenantId, collectionId, directoryGroupId: randomUUID() },
        directoryGroupDisplayName: 'Korgruppen',
      },
      world.nowMs(),
    )
    await world.deps.linkStore.add(link)
    for (const type of ['link.failed', 'link.paused', 'removals.held', 'link.recovered']) {
      await tell(world, type, { linkId: link.id })
    }
    assert.deepEqual(
      told(world).filter((line) => line.startsWith('two')),
      [
        'two: Gruppen Korgruppen kunne ikke synkroniseres',
        'two: Ingen medlemmer fjernes fra gruppen Korgruppen',
        'two: Fjerninger fra gruppen Korgruppen venter på godkjenning',
      ],
    )
    assert.ok(world.mails()[0]?.text?.includes(`https://collections.example/console/links/${link.id}`))
  })

  it('are told of a disabled subscription by the host of its address alone', async () => {
    const world = await operatedWorld()
    const hook = await receiver(() => 410)
    await world.subscribe(`${hook.url}?key=a-secret`, ['collection.*'])
    await world.joinable(OPEN)
    await world.drain()
    const { host } = new URL(hook.url)
    assert.deepEqual(
      told(world),
      ['ONE', 'two'].map((name) => `${name}: The event subscription to ${host} was disabled`),
    )
    assert.ok(!JSON.stringify(world.mails()).includes('a-secret'))
    hook.close()
  })
})
