import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { routeTables } from '../../functions/routes/all-routes.ts'
import { serviceDocument } from '../../functions/routes/service-document.ts'
import {
  type ApiClient,
  apiClient,
  applicationToken,
  asApplication,
  asPerson,
} from '../support/journeys/demo-clients.ts'
import { sharedEnvironment } from '../support/journeys/shared-environment.ts'
import type { StartedEnvironment } from '../support/journeys/started-environment.ts'

const APPLICATIONS = ['reader', 'writer', 'connector', 'operator', 'nobody', 'tester'] as const
const PEOPLE = [
  'admin',
  'collectionsAdmin',
  'coreAdmin',
  'manager',
  'employee',
  'colleague',
  'approver',
  'newcomer',
  'outsider',
] as const
/** The second one has a tenth of the people. */
const TENANTS = ['first', 'second'] as const
type Name = (typeof APPLICATIONS)[number] | (typeof PEOPLE)[number]

/** The callers that pass a gate, and those that are stopped by another refusal than `RoleRequired`. */
type Gate = {
  readonly passed: readonly Name[]
  readonly withoutIdentity?: readonly Name[]
  readonly isForUsersOnly?: boolean
}

const ANYONE: Gate = { passed: [...APPLICATIONS, ...PEOPLE] }
const COLLECTIONS_READ: Gate = { passed: ['admin', 'collectionsAdmin', 'reader', 'writer'] }
const COLLECTIONS_WRITE: Gate = { passed: ['admin', 'collectionsAdmin', 'writer'] }
const COLLECTIONS_ADMINISTRATION: Gate = { passed: ['admin', 'collectionsAdmin'], isForUsersOnly: true }
const AS_ONESELF: Gate = {
  passed: ['admin', 'manager', 'employee', 'colleague', 'approver'],
  withoutIdentity: ['collectionsAdmin', 'coreAdmin', 'newcomer'],
  isForUsersOnly: true,
}
const REQUESTS_READ: Gate = {
  passed: ['admin', 'collectionsAdmin', 'manager', 'employee', 'colleague', 'approver', 'reader', 'writer'],
  withoutIdentity: ['newcomer'],
}
/** As oneself; a collections administrator for others. */
const AS_ONESELF_OR_ADMINISTRATOR: Gate = {
  passed: [...AS_ONESELF.passed, 'collectionsAdmin'],
  withoutIdentity: ['coreAdmin', 'newcomer'],
  isForUsersOnly: true,
}
/** As oneself, or for others who writes collections. */
const EXTENSIONS: Gate = {
  passed: [...AS_ONESELF.passed, 'collectionsAdmin', 'writer'],
  withoutIdentity: ['coreAdmin', 'newcomer'],
}
const CORE_OBJECTS: Gate = {
  passed: ['admin', 'coreAdmin', 'manager', 'employee', 'colleague', 'approver', 'newcomer', 'operator'],
}
/** Readers of collections or of all core objects, and any user. */
const PEOPLE_FOUND: Gate = {
  passed: [
    ...COLLECTIONS_READ.passed,
    'coreAdmin',
    'manager',
    'employee',
    'colleague',
    'approver',
    'newcomer',
    'operator',
  ],
}
const ALL_CORE_OBJECTS: Gate = { passed: ['admin', 'coreAdmin', 'operator'] }
const ERASURE: Gate = { passed: ['admin', 'coreAdmin'], isForUsersOnly: true }
const CONNECTORS: Gate = { passed: ['admin', 'coreAdmin', 'operator'] }
const CONNECTOR_DATA_READ: Gate = { passed: ['admin', 'coreAdmin', 'connector'] }
const CONNECTOR_DATA_WRITE: Gate = { passed: ['connector'] }

/**
 * Who may call what, route by route. The status is what passes the gate then meets: 400 for an id `x`, a body that
 * is not JSON or a parameter left out; 200 where nothing can be wrong.
 */
const TABLE: readonly (readonly [gate: Gate, status: number, routes: string])[] = [
  [COLLECTIONS_READ, 200, 'GET /collections/beta, GET /collections/beta/search, GET /collections/beta/counts'],
  [ANYONE, 200, 'GET /collections/beta/me'],
  [AS_ONESELF, 200, 'GET /collections/beta/me/notifications'],
  [AS_ONESELF, 400, 'PUT /collections/beta/me/notifications'],
  [AS_ONESELF, 200, 'GET /collections/beta/member-of'],
  [COLLECTIONS_READ, 400, 'GET /collections/beta/{collectionId}/members, POST /collections/beta/people'],
  [COLLECTIONS_READ, 400, 'GET /collections/beta/history, GET /collections/beta/{collectionId}/history'],
  [COLLECTIONS_READ, 400, 'GET /collections/beta/{collectionId}/audit'],
  [COLLECTIONS_READ, 400, 'GET /collections/beta/{collectionId}/versions/{version}'],
  [ANYONE, 200, 'GET /collections/beta/attention'],
  [PEOPLE_FOUND, 400, 'GET /collections/beta/people'],
  [REQUESTS_READ, 400, 'GET /collections/beta/memberships'],
  [COLLECTIONS_WRITE, 200, 'GET /collections/beta/event-subscriptions'],
  [COLLECTIONS_WRITE, 400, 'POST /collections/beta/event-subscriptions'],
  ...['GET', 'PUT', 'DELETE'].map((method) => {
    return [COLLECTIONS_WRITE, 400, `${method} /collections/beta/event-subscriptions/{id}`] as const
  }),
  ...['POST rotate-secret', 'POST test', 'GET deliveries', 'POST redeliver'].map((named) => {
    const [method, action] = named.split(' ')
    return [COLLECTIONS_WRITE, 400, `${method} /collections/beta/event-subscriptions/{id}/${action}`] as const
  }),
  [REQUESTS_READ, 400, 'GET /collections/beta/{collectionId}/explain'],
  [COLLECTIONS_READ, 400, 'GET /collections/beta/{collectionId}, GET /collections/beta/{collectionId}/results'],
  [COLLECTIONS_READ, 400, 'POST /collections/beta/{collectionId}/filter-members'],
  [COLLECTIONS_READ, 200, 'GET /collections-criteria/beta, GET /collections-criteria/beta/tenant-schemas'],
  [COLLECTIONS_READ, 400, 'GET /collections-criteria/beta/{id}, GET /collections-criteria/beta/{id}/results'],
  [COLLECTIONS_READ, 400, 'POST /collections-criteria/beta/{id}/results/filter-members'],
  [COLLECTIONS_READ, 400, 'POST /collections-criteria/beta/preview, GET /collections-criteria/beta/attribute-values'],
  [COLLECTIONS_WRITE, 400, 'POST /collections-criteria/beta, PUT /collections-criteria/beta/{id}'],
  [COLLECTIONS_WRITE, 400, 'DELETE /collections-criteria/beta/{id}'],
  [COLLECTIONS_WRITE, 400, 'POST /collections-criteria/beta/plan, POST /collections-criteria/beta/{id}/plan'],
  [COLLECTIONS_WRITE, 400, 'POST /collections-criteria/beta/{id}/plan/members'],
  [COLLECTIONS_READ, 200, 'GET /collections-joinable/beta, GET /collections-joinable/beta/search'],
  [COLLECTIONS_READ, 400, 'GET /collections-joinable/beta/{id}, GET /collections-joinable/beta/{id}/results'],
  [COLLECTIONS_WRITE, 400, 'POST /collections-joinable/beta, PUT /collections-joinable/beta/{id}'],
  [COLLECTIONS_WRITE, 400, 'DELETE /collections-joinable/beta/{id}'],
  [COLLECTIONS_WRITE, 400, 'POST /collections-joinable/beta/{id}/results/members'],
  [COLLECTIONS_WRITE, 400, 'DELETE /collections-joinable/beta/{id}/results/members'],
  [AS_ONESELF, 200, 'GET /collections-joinable/beta/member-of'],
  [AS_ONESELF, 400, 'POST /collections-joinable/beta/membership-requests/{collectionId}/submit'],
  [AS_ONESELF, 400, 'POST /collections-joinable/beta/membership-requests/{collectionId}/submit-on-behalf'],
  [AS_ONESELF, 400, 'POST /collections-joinable/beta/membership-requests/{collectionId}/{requestId}/approve'],
  [AS_ONESELF, 400, 'POST /collections-joinable/beta/membership-requests/{collectionId}/{requestId}/reject'],
  [AS_ONESELF, 400, 'POST /collections-joinable/beta/membership-requests/{collectionId}/{requestId}/cancel'],
  [AS_ONESELF, 400, 'POST /collections-joinable/beta/membership-requests/{collectionId}/{requestId}/leave'],
  [EXTENSIONS, 400, 'POST /collections-joinable/beta/membership-requests/{collectionId}/{requestId}/extend'],
  [AS_ONESELF, 200, 'GET /collections-joinable/beta/membership-requests/deputy'],
  [AS_ONESELF_OR_ADMINISTRATOR, 400, 'PUT /collections-joinable/beta/membership-requests/deputy'],
  [AS_ONESELF, 200, 'DELETE /collections-joinable/beta/membership-requests/deputy'],
  [AS_ONESELF, 400, 'POST /collections-joinable/beta/membership-requests/decide'],
  [AS_ONESELF, 200, 'GET /collections-joinable/beta/membership-requests/eligible'],
  [AS_ONESELF, 200, 'GET /collections-joinable/beta/membership-requests/submitted-on-behalf'],
  [AS_ONESELF, 200, 'GET /collections-joinable/beta/membership-requests/pending-approval'],
  [AS_ONESELF, 200, 'GET /collections-joinable/beta/membership-requests/mine'],
  [AS_ONESELF, 200, 'GET /collections-joinable/beta/membership-requests/inbox'],
  [AS_ONESELF, 200, 'GET /collections-joinable/beta/membership-requests/pending-approval-review'],
  [AS_ONESELF, 400, 'GET /collections-joinable/beta/membership-requests/pending-approval-review/{collectionId}'],
  [REQUESTS_READ, 400, 'GET /collections-joinable/beta/membership-requests/eligible/{userId}'],
  [REQUESTS_READ, 400, 'GET /collections-joinable/beta/membership-requests/{collectionId}'],
  [REQUESTS_READ, 400, 'GET /collections-joinable/beta/membership-requests/{collectionId}/{requestId}'],
  [COLLECTIONS_READ, 200, 'GET /group-link/beta/group-links, GET /group-link/beta/sync-jobs'],
  [COLLECTIONS_READ, 400, 'GET /group-link/beta/group-links/{id}, GET /group-link/beta/groups'],
  [COLLECTIONS_READ, 400, 'GET /group-link/beta/group-links/by-collection/{collectionId}'],
  [COLLECTIONS_READ, 400, 'POST /group-link/beta/group-links/preview'],
  [COLLECTIONS_READ, 400, 'GET /group-link/beta/sync-jobs/{id}, GET /group-link/beta/sync-jobs/{id}/changes'],
  [COLLECTIONS_WRITE, 400, 'POST /group-link/beta/group-links, PATCH /group-link/beta/group-links/{id}'],
  [COLLECTIONS_WRITE, 400, 'DELETE /group-link/beta/group-links/{id}'],
  [COLLECTIONS_WRITE, 400, 'POST /group-link/beta/group-links/{collectionId}/sync'],
  [COLLECTIONS_READ, 400, 'GET /group-link/beta/group-links/{id}/removal-plan'],
  [COLLECTIONS_ADMINISTRATION, 400, 'POST /group-link/beta/group-links/{id}/removal-plan/{planId}/approve'],
  [COLLECTIONS_ADMINISTRATION, 400, 'POST /group-link/beta/group-links/{id}/removal-plan/{planId}/reject'],
  [COLLECTIONS_READ, 200, 'GET /group-link/beta/settings, GET /group-link/beta/settings/audit'],
  [COLLECTIONS_ADMINISTRATION, 400, 'PATCH /group-link/beta/settings'],
  ...['identities', 'orgunits', 'relationships'].flatMap((type) => {
    const path = `/iamcore/beta/sync/coreobjects/${type}`
    return [
      [CORE_OBJECTS, 200, `GET ${path}`] as const,
      [CORE_OBJECTS, 400, `GET ${path}/search, GET ${path}/{id}, POST ${path}/multiple`] as const,
    ]
  }),
  [CORE_OBJECTS, 400, 'GET /iamcore/beta/sync/coreobjects/identities/{id}/relationships'],
  [CORE_OBJECTS, 400, 'GET /iamcore/beta/sync/coreobjects/orgunits/{id}/relationships'],
  [CORE_OBJECTS, 400, 'GET /iamcore/beta/sync/coreobjects/relationships/identity/{identityId}'],
  [ALL_CORE_OBJECTS, 200, 'GET /iamcore/beta/sync/coreobjects/account-conflicts'],
  [ALL_CORE_OBJECTS, 200, 'GET /iamcore/beta/sync/coreobjects/duplicates'],
  [ALL_CORE_OBJECTS, 400, 'GET /iamcore/beta/sync/coreobjects/identities/{id}/sources'],
  [ALL_CORE_OBJECTS, 400, 'GET /iamcore/beta/sync/coreobjects/identities/{id}/audit'],
  [ERASURE, 400, 'DELETE /iamcore/beta/sync/coreobjects/identities/{id}/personal-data'],
  [CONNECTORS, 200, 'GET /iamcore/sync/connectors, GET /iamcore/beta/sync/connectors'],
  [CONNECTORS, 400, 'GET /iamcore/sync/connectors/{id}, GET /iamcore/beta/sync/connectors/{id}'],
  [CONNECTORS, 400, 'POST /iamcore/beta/sync/connectors, PUT /iamcore/beta/sync/connectors/{id}'],
  [CONNECTORS, 400, 'DELETE /iamcore/beta/sync/connectors/{id}, GET /iamcore/beta/sync/connectors/{id}/audit'],
  [CONNECTORS, 400, 'GET /iamcore/beta/sync/connectors/{id}/unresolved, POST /iamcore/beta/sync/connectors/{id}/plan'],
  [CONNECTOR_DATA_READ, 400, 'GET /iamcore/beta/sync/connectors/{id}/data'],
  [CONNECTOR_DATA_READ, 400, 'GET /iamcore/beta/sync/connectors/{id}/attribute-types'],
  [CONNECTOR_DATA_READ, 400, 'GET /iamcore/beta/sync/connectors/{id}/data/{objectType}/{externalId}'],
  [CONNECTOR_DATA_WRITE, 400, 'POST /iamcore/beta/sync/connectors/{id}/data'],
  [CONNECTOR_DATA_WRITE, 400, 'POST /iamcore/beta/sync/connectors/{id}/data/batch'],
  [CONNECTOR_DATA_WRITE, 400, 'PUT /iamcore/beta/sync/connectors/{id}/data/{connectorObjectId}'],
  [CONNECTOR_DATA_WRITE, 400, 'DELETE /iamcore/beta/sync/connectors/{id}/data/{connectorObjectId}'],
]

const ROUTES = TABLE.flatMap(([gate, status, routes]) => routes.split(', ').map((named) => ({ gate, status, named })))

/** Status and code that a caller is to meet. */
function expected({ passed, withoutIdentity = [], isForUsersOnly }: Gate, status: number, name: Name): string {
  if (passed.includes(name)) return status === 200 ? '200' : `${status} input`
  if (withoutIdentity.includes(name)) return '403 CallerHasNoIdentity'
  const isApplication = (APPLICATIONS as readonly string[]).includes(name)
  return isForUsersOnly && isApplication ? '403 UsersOnly' : '403 RoleRequired'
}

async function met(api: ApiClient, named: string): Promise<string> {
  const [method = '', template = ''] = named.split(' ')
  const path = template.replaceAll(/\{\w+\}/g, 'x')
  const { status, json } = await api(method, path, method === 'GET' ? undefined : '{')
  const [error] = json.errors
  if (error === undefined) return String(status)
  return `${status} ${status === 400 ? 'input' : error.code}`
}

describe('access by role', () => {
  let environment: StartedEnvironment
  /** Of each tenant. */
  const clients: ReadonlyMap<Name, ApiClient>[] = []

  before(async () => {
    environment = await sharedEnvironment()
    for (const tenant of environment.demo.tenants.keys()) {
      const all = new Map<Name, ApiClient>()
      for (const name of APPLICATIONS) all.set(name, await asApplication(environment, name, tenant))
      for (const name of PEOPLE) all.set(name, await asPerson(environment, name, tenant))
      clients.push(all)
    }
  })

  const client = (name: Name, tenant = 0): ApiClient => {
    const known = clients[tenant]?.get(name)
    if (known === undefined) throw new Error(`Nobody is called ${name}`)
    return known
  }

  it('is tested with every application and person of the demo', () => {
    assert.equal(environment.demo.tenants.length, TENANTS.length)
    for (const { apps, people } of environment.demo.tenants) {
      assert.deepEqual(apps.map(({ name }) => name).sort(), [...APPLICATIONS].sort())
      assert.deepEqual(people.map(({ name }) => name).sort(), [...PEOPLE].sort())
    }
  })

  it('is tested in more than 3,000 cells: routes, callers and tenants', () => {
    assert.ok(ROUTES.length * (APPLICATIONS.length + PEOPLE.length) * TENANTS.length > 3000)
  })

  it('is specified for every route', () => {
    const served = routeTables().flatMap(({ prefix, routes }) =>
      routes.map(({ method, path }) => `${method} /${prefix}${path === '/' ? '' : path}`),
    )
    assert.deepEqual(ROUTES.map(({ named }) => named).sort(), served.sort())
  })

  for (const [tenant, where] of TENANTS.entries()) {
    for (const name of [...APPLICATIONS, ...PEOPLE]) {
      it(`is as specified for ${name} in the ${where} tenant`, async () => {
        for (const { gate, status, named } of ROUTES) {
          assert.equal(await met(client(name, tenant), named), expected(gate, status, name), named)
        }
      })
    }
  }

  it('is refused without a token, with an invalid token and with one for another service', async () => {
    const token = await applicationToken(environment, 'writer', environment.demo.scope)
    const ofGraph = await applicationToken(environment, 'tester', 'https://graph.microsoft.com/.default')
    for (const [sent, code] of [
      [undefined, 'TokenMissing'],
      [token.slice(0, -8), 'TokenInvalid'],
      [ofGraph, 'TokenInvalid'],
    ] as const) {
      const api = apiClient(environment, sent)
      for (const { named } of ROUTES) assert.equal(await met(api, named), `401 ${code}`, named)
    }
  })

  it('to /openapi.json needs no token', async () => {
    const response = await fetch(`${environment.apiUrl}/openapi.json`)
    assert.equal(response.status, 200)
    assert.deepEqual(await response.json(), JSON.parse(JSON.stringify(serviceDocument())))
    assert.equal((await fetch(`${environment.apiUrl}/openapi.json`, { method: 'DELETE' })).status, 405)
    const head = await fetch(`${environment.apiUrl}/openapi.json`, { method: 'HEAD' })
    assert.deepEqual([head.status, await head.text()], [200, ''])
  })

  it('lets a person read data about themselves and their reports', async () => {
    const people = environment.demo.tenants[0]?.people ?? []
    const account = (name: Name) => people.find((person) => person.name === name)?.objectId
    const eligible = (name: Name, of: Name) =>
      met(client(name), `GET /collections-joinable/beta/membership-requests/eligible/${account(of)}`)
    assert.equal(await eligible('employee', 'employee'), '200')
    assert.equal(await eligible('manager', 'employee'), '200')
    assert.equal(await eligible('employee', 'manager'), '403 NotManager')
    assert.equal(await eligible('colleague', 'employee'), '403 NotManager')
    assert.equal(await eligible('collectionsAdmin', 'employee'), '200')
    assert.equal(await eligible('reader', 'employee'), '200')
  })

  it('lists the core objects that a person can see, and all of them for administrators', async () => {
    const count = async (name: Name) =>
      (await client(name)<unknown[]>('GET', '/iamcore/beta/sync/coreobjects/identities')).json.data.length
    assert.equal(await count('newcomer'), 0)
    assert.equal(await count('employee'), 1)
    assert.equal(await count('admin'), await count('operator'))
    assert.ok((await count('admin')) > (await count('manager')))
  })
})
