import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { LetterContext } from '../../shared/domain/mail/letter.ts'
import { addressOf } from '../../shared/domain/mail/letter-address.ts'
import type { MailDependencies } from '../../shared/domain/mail/mail-dependencies.ts'
import { operatorLetters } from '../../shared/domain/mail/operator-letters.ts'
import type { OrgChart } from '../../shared/domain/tenant-index/rows/org-chart.ts'

const OPERATORS = ['One@a.example', 'two@a.example']
const LINK = {
  ...{ id: 'link', collectionId: 'collection', directoryGroupId: 'group', directoryGroupDisplayName: 'Nurses' },
  ...{ state: 'Enabled', lastSyncOutcome: 'Failed', skippedCount: 1, isPauseTold: true },
  heldRemovals: { planId: 'plan' },
}
const OF_LINK = { linkId: 'link', planId: 'plan' }
const SUBSCRIPTION = { id: 'subscription', url: 'https://events.example/hook?key=secret' }

type Known = {
  readonly link?: object
  readonly collection?: object
  readonly connector?: object
  readonly lateConnectorIds?: readonly string[]
  readonly subscription?: object
}

async function itemsOf(type: string, data: object, known: Known) {
  const find = (value: object | undefined) => async () => value && { value, version: '1' }
  const subscriptions = known.subscription === undefined ? [] : [known.subscription]
  const deps = {
    links: { find: find(known.link) },
    collections: { find: find(known.collection) },
    connectors: { find: find(known.connector) },
    lateConnectors: { of: async () => new Set(known.lateConnectorIds ?? ['one']) },
    subscriptions: { read: async () => ({ value: subscriptions, version: '1' }) },
  } as unknown as MailDependencies
  const event = { id: 'event', type, time: '', subject: '', data: { ...data } }
  const context = { tenantId: 'tenant', settings: { operators: OPERATORS } } as unknown as LetterContext
  const letters = await operatorLetters(event, context, deps)
  assert.deepEqual(
    letters.map(({ to }) => to),
    letters.length === 0 ? [] : OPERATORS.map((address) => ({ kind: 'operator', address })),
  )
  return letters.map(({ item }) => item).slice(0, 1)
}

describe('Operators are told', () => {
  for (const [type, kind] of [
    ['link.failed', 'LinkFailed'],
    ['link.paused', 'LinkPaused'],
    ['removals.held', 'RemovalsHeld'],
  ] as const)
    it(`of ${type} with the names of group and collection, or their ids`, async () => {
      const named = await itemsOf(type, OF_LINK, { link: LINK, collection: { name: 'Choir' } })
      assert.deepEqual(named, [{ kind, collectionName: 'Choir', groupName: 'Nurses', path: '/links/link' }])
      const nameless = await itemsOf(type, OF_LINK, { link: { ...LINK, directoryGroupDisplayName: null } })
      assert.deepEqual(nameless, [{ kind, collectionName: 'collection', groupName: 'group', path: '/links/link' }])
    })

  it('of a late connector by its name', async () => {
    const items = await itemsOf('connector.late', { connectorId: 'one' }, { connector: { name: 'HR' } })
    assert.deepEqual(items, [{ kind: 'ConnectorLate', connectorName: 'HR', path: '/connectors/one' }])
  })

  it('of a disabled subscription by the host of its address, and why', async () => {
    const of = (reason: string) => {
      const subscription = { ...SUBSCRIPTION, disabledReason: reason }
      return itemsOf('subscription.disabled', { subscriptionId: 'subscription', reason }, { subscription })
    }
    const item = { kind: 'SubscriptionDisabled', host: 'events.example', path: '' }
    assert.deepEqual(await of('Gone'), [{ ...item, isGone: true }])
    assert.deepEqual(await of('Failing'), [{ ...item, isGone: false }])
  })

  const over: readonly [string, string, object][] = [
    ['a failure before a sync succeeded', 'link.failed', { lastSyncOutcome: 'Succeeded' }],
    ['a job that ended because its link was disabled', 'link.failed', { lastSyncError: 'The group link is disabled.' }],
    ['a pause before removals went on', 'link.paused', { skippedCount: 0, isPauseTold: false }],
    ['held removals that are due no more', 'removals.held', { heldRemovals: null }],
    ['held removals in whose place there are others', 'removals.held', { heldRemovals: { planId: 'other' } }],
    ['held removals that were rejected', 'removals.held', { heldRemovals: { planId: 'plan', rejectedAt: 'then' } }],
  ]
  for (const [name, type, changes] of over)
    it(`nothing of ${name}`, async () => {
      assert.deepEqual(await itemsOf(type, OF_LINK, { link: { ...LINK, ...changes } }), [])
    })

  it('of a disabled link as well: when it is enabled, no event tells again of what goes on', async () => {
    for (const type of ['link.failed', 'link.paused', 'removals.held']) {
      const items = await itemsOf(type, OF_LINK, { link: { ...LINK, state: 'Disabled' } })
      assert.equal(items.length, 1)
    }
  })

  it('of a pause as long as nothing is known of its end', async () => {
    for (const changes of [{ skippedCount: null }, { isPauseTold: undefined }]) {
      assert.equal((await itemsOf('link.paused', OF_LINK, { link: { ...LINK, ...changes } })).length, 1)
    }
  })

  it('nothing of a connector that has sent data since, nor of a subscription that was enabled again', async () => {
    const known = { connector: { name: 'HR' }, lateConnectorIds: ['other'] }
    assert.deepEqual(await itemsOf('connector.late', { connectorId: 'one' }, known), [])
    const data = { subscriptionId: 'subscription', reason: 'Failing' }
    for (const disabledReason of [null, 'Gone']) {
      const subscription = { ...SUBSCRIPTION, disabledReason }
      assert.deepEqual(await itemsOf('subscription.disabled', data, { subscription }), [])
    }
  })

  it('nothing of what was deleted, nor of other events', async () => {
    assert.deepEqual(await itemsOf('link.failed', { linkId: 'link' }, {}), [])
    assert.deepEqual(await itemsOf('connector.late', { connectorId: 'one' }, {}), [])
    const other = { subscriptionId: 'other', reason: 'Gone' }
    const subscription = { ...SUBSCRIPTION, disabledReason: 'Gone' }
    assert.deepEqual(await itemsOf('subscription.disabled', other, { subscription }), [])
    assert.deepEqual(await itemsOf('link.recovered', OF_LINK, { link: LINK }), [])
  })

  it('nothing where the settings name none, which reads nothing', async () => {
    const context = { tenantId: 'tenant', settings: { operators: [] } } as unknown as LetterContext
    const links = { find: () => assert.fail() }
    const event = { id: 'event', type: 'link.failed', time: '', subject: '', data: { linkId: 'link' } }
    assert.deepEqual(await operatorLetters(event, context, { links } as unknown as MailDependencies), [])
  })
})

describe('The address of a recipient', () => {
  const person = (attributes: Readonly<Record<string, string>>) => {
    const rows = { textOf: (_type: string, name: string) => attributes[name] }
    const context = {
      settings: { language: 'en' },
      orgChart: async () => ({ rows }) as unknown as OrgChart,
    } as unknown as LetterContext
    const deps = { deriveId: (...parts: string[]) => parts.join() }
    return { context, deps }
  }

  it('of a person is their email, in the language that they prefer', async () => {
    const { context, deps } = person({ email: ' ola@a.example ', preferredLanguage: 'nb-NO' })
    const found = await addressOf({ kind: 'person', identityId: 'ola' }, context, deps)
    assert.deepEqual(found, { key: 'ola', mail: 'ola@a.example', language: 'no', isOperator: false })
    const plain = person({ email: 'ola@a.example' })
    const other = await addressOf({ kind: 'person', identityId: 'ola' }, plain.context, plain.deps)
    assert.equal(other?.language, 'en')
  })

  it('of a person without a valid email is none', async () => {
    for (const attributes of [{}, { email: 'ola' }]) {
      const { context, deps } = person(attributes)
      assert.equal(await addressOf({ kind: 'person', identityId: 'ola' }, context, deps), undefined)
    }
  })

  it('of an operator is the one in the settings: one mailbox, however it is spelled', async () => {
    const { context, deps } = person({})
    const found = await addressOf({ kind: 'operator', address: 'One@a.example' }, context, deps)
    const key = 'operator,one@a.example'
    assert.deepEqual(found, { key, mail: 'One@a.example', language: 'en', isOperator: true })
  })
})
