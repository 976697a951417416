import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { receiver, signatureOf } from '../support/events/event-fixture.ts'
import { type ApiClient, asApplication, eventually } from '../support/journeys/demo-clients.ts'
import { sharedEnvironment } from '../support/journeys/shared-environment.ts'
import type { StartedEnvironment } from '../support/journeys/started-environment.ts'

const SUBSCRIPTIONS = '/collections/beta/event-subscriptions'

describe('events, end to end', () => {
  let environment: StartedEnvironment
  let writer: ApiClient
  before(async () => {
    environment = await sharedEnvironment(60)
    writer = await asApplication(environment, 'writer')
  })

  it('reach a receiver within seconds: of a new collection, its members, and its link that syncs', async () => {
    const hook = await receiver()
    const made = await writer<{ id: string; secret: string }>('POST', SUBSCRIPTIONS, { url: hook.url, types: ['*'] })
    assert.equal(made.status, 201, JSON.stringify(made.json))
    const groupId = environment.demo.tenants[0]?.groups.filter(({ kind }) => kind === 'security')[2]?.id
    const created = await writer<string>('POST', '/collections-criteria/beta', {
      objectType: 'Relationship',
      name: 'All',
      condition: {
        groupOperator: 'AND',
        conditions: [{ id: 'relationshipTitle', field: 'relationshipTitle', operator: 'NotEquals', value: 'nothing' }],
      },
    })
    const collectionId = created.json.data
    assert.equal(created.status, 201, JSON.stringify(created.json))
    const link = await writer('POST', '/group-link/beta/group-links', { collectionId, directoryGroupId: groupId })
    assert.equal(link.status, 201)
    const { json } = await writer<{ memberIds: string[] }>('GET', `/collections-criteria/beta/${collectionId}/results`)
    const members = json.data.memberIds.length
    assert.ok(members > 0)
    const added = await eventually('the events', async () => {
      const found = hook.events().filter(({ type }) => type === 'member.added')
      const rest = hook.types()
      return found.length === members && rest.includes('link.created') && rest.includes('collection.created')
        ? found
        : undefined
    })
    assert.deepEqual(new Set(added.map(({ data }) => data.collectionId)), new Set([collectionId]))
    for (const each of hook.delivered) {
      assert.equal(each.headers['webhook-signature'], signatureOf(made.json.data.secret, each))
    }
    assert.equal((await writer('DELETE', `${SUBSCRIPTIONS}/${made.json.data.id}`)).status, 200)
    hook.close()
  })
})
