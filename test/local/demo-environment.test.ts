import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { demoEnvironment } from '../../infra/local/demo/demo-environment.ts'
import type { ConnectorObject, Municipality } from '../../infra/local/demo/municipality.ts'
import { demoAnswer } from '../../infra/local/directory/seed.ts'
import { attributeDefinition } from '../../shared/domain/core/core-object.ts'

const SEED = 'seed of the tests'
const environment = demoEnvironment({ identityCount: 1000, seed: SEED })
const answer = demoAnswer(environment.directory, 'http://localhost:7071')
const [first, second] = environment.municipalities as [Municipality, Municipality]
const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const all = ({ orgUnits, identities, relationships }: Municipality) => [...orgUnits, ...identities, ...relationships]
const find = (objects: readonly ConnectorObject[], externalId: string) =>
  objects.find((object) => object.externalId === externalId)?.data
const generated = (objects: readonly ConnectorObject[]) =>
  objects.filter(({ externalId }) => !externalId.startsWith('demo-'))

describe('The demo environment', () => {
  it('depends only on the seed', () => {
    assert.deepEqual(demoEnvironment({ identityCount: 1000, seed: SEED }), environment)
    const other = demoEnvironment({ identityCount: 1000, seed: 'another' })
    assert.notEqual(other.directory.serviceClientId, environment.directory.serviceClientId)
    assert.notDeepEqual(other.municipalities[0]?.identities, first.identities)
  })

  for (const identityCount of [0, 1, 7, 10]) {
    it(`keeps credentials, demo people and their units with ${identityCount} people`, () => {
      const small = demoEnvironment({ identityCount, seed: SEED })
      assert.deepEqual(demoAnswer(small.directory, 'http://localhost:7071'), answer)
      const [tenant] = small.municipalities
      assert.ok(tenant)
      assert.equal(generated(tenant.identities).length, identityCount)
      for (const objects of ['orgUnits', 'identities', 'relationships'] as const) {
        const demo = (of: Municipality) => of[objects].filter(({ externalId }) => externalId.startsWith('demo-'))
        assert.deepEqual(demo(tenant), demo(first))
      }
      assertReferencesResolve(tenant)
    })
  }

  it('has a tenth of the people in the second tenant', () => {
    assert.equal(generated(first.identities).length, 1000)
    assert.equal(generated(second.identities).length, 100)
  })

  it('has 1.1 positions per person, and 3 percent of people without account', () => {
    const positions = generated(first.relationships).length
    assert.ok(positions > 1060 && positions < 1140, String(positions))
    const without = generated(first.identities).filter(({ data }) => data.directoryObjectId === undefined)
    assert.equal(without.length, 30)
    const users = environment.directory.tenants[0]?.users ?? []
    // The people of the demo, and the mailbox that sends mails.
    assert.equal(users.length, 970 + 5 + 1)
  })

  it('uses defined attributes with values of their kind', () => {
    for (const { objectType, externalId, data } of all(first)) {
      for (const [name, value] of Object.entries(data)) {
        const kind = attributeDefinition(objectType, name)?.kind
        assert.ok(kind !== undefined && isOfKind(kind, value), `${externalId} ${name} ${kind} ${JSON.stringify(value)}`)
      }
    }
  })

  it('refers to existing objects of the correct type', () => {
    assertReferencesResolve(first)
    assertReferencesResolve(second)
  })

  it('has unique external ids, numbers, accounts and addresses per tenant', () => {
    for (const municipality of environment.municipalities) {
      for (const name of ['nin', 'directoryObjectId', 'directoryUserPrincipalName', 'email']) {
        const values = municipality.identities.flatMap(({ data }) => data[name] ?? [])
        assert.equal(new Set(values).size, values.length, name)
      }
      const names = all(municipality).map(({ objectType, externalId }) => `${objectType} ${externalId}`)
      assert.equal(new Set(names).size, names.length)
    }
  })

  it('has a tree of units, each with a manager who works there or above', () => {
    const roots = first.orgUnits.filter(({ data }) => data.parent === undefined)
    assert.deepEqual(
      roots.map(({ data }) => data.type),
      ['Municipality'],
    )
    assert.equal(
      first.orgUnits.every(({ data }) => data.manager !== undefined),
      true,
    )
    assert.deepEqual(
      new Set(first.orgUnits.map(({ data }) => data.type)),
      new Set(['Municipality', 'Department', 'Unit']),
    )
  })

  it('makes the employee report to the manager, and gives the colleague two positions', () => {
    const { relationships, orgUnits } = first
    const held = (person: string) =>
      relationships.filter(({ data }) => (data.identity as { externalId: string }).externalId === `demo-${person}`)
    assert.deepEqual(
      held('employee').map(({ data }) => data.manager),
      [{ externalId: 'demo-manager' }],
    )
    assert.deepEqual(find(orgUnits, 'demo-service-desk')?.manager, { externalId: 'demo-manager' })
    assert.equal(held('colleague').length, 2)
    assert.equal(held('approver').length, 1)
    assert.equal(held('manager').length, 1)
    for (const nobody of ['newcomer', 'outsider', 'collectionsAdmin', 'coreAdmin']) {
      assert.equal(find(first.identities, `demo-${nobody}`), undefined)
    }
  })

  it('lists the applications and people with their roles', () => {
    const [tenant] = answer.tenants
    assert.deepEqual(Object.fromEntries((tenant?.apps ?? []).map(({ name, roles }) => [name, roles])), {
      reader: ['collections-criteria.criteria.read.all'],
      writer: ['collections-criteria.criteria.readwrite.all'],
      connector: ['iam-core.connector-data.readwrite.self'],
      operator: [
        'iam-core.connector-configuration.readwrite.all',
        'iam-core.synchronization-configuration.readwrite.all',
      ],
      nobody: [],
      tester: [],
    })
    assert.deepEqual(Object.fromEntries((tenant?.people ?? []).map(({ name, roles }) => [name, roles])), {
      admin: ['Administrator', 'collection_criteria_definition-administrator'],
      collectionsAdmin: ['collection_criteria_definition-administrator'],
      coreAdmin: ['Administrator'],
      manager: ['User'],
      employee: ['User'],
      colleague: ['User'],
      approver: ['User'],
      newcomer: ['User'],
      outsider: [],
    })
  })

  it('lists groups of every kind, with at least four empty security groups', () => {
    for (const { tenantId, groups } of answer.tenants) {
      const kinds = groups.map(({ kind }) => kind)
      assert.equal(new Set(kinds).size, 11)
      assert.ok(kinds.filter((kind) => kind === 'security').length >= 4)
      const seeds = environment.directory.tenants.find((tenant) => tenant.tenantId === tenantId)?.groups ?? []
      for (const { kind, memberIds } of seeds) if (kind === 'security') assert.deepEqual(memberIds, [])
      assert.equal(seeds.find(({ kind }) => kind === 'populated')?.memberIds.length, 7)
      const owned = seeds.find(({ kind }) => kind === 'owned')
      const { applications = [] } = environment.directory.tenants.find((tenant) => tenant.tenantId === tenantId) ?? {}
      const service = applications.find(({ clientId }) => clientId === environment.service.clientId)
      assert.deepEqual([owned?.memberIds, owned?.ownerIds], [[], [service?.objectId]])
      assert.ok(groups.every(({ id }) => GUID.test(id)))
    }
  })
})

function assertReferencesResolve(municipality: Municipality): void {
  const known = new Set(all(municipality).map(({ objectType, externalId }) => `${objectType} ${externalId}`))
  for (const { objectType, externalId, data } of all(municipality)) {
    for (const [name, value] of Object.entries(data)) {
      const definition = attributeDefinition(objectType, name)
      const to = definition !== undefined && 'to' in definition ? definition.to : undefined
      if (to === undefined) continue
      for (const one of [value].flat() as { externalId: string }[]) {
        assert.ok(known.has(`${to} ${one.externalId}`), `${externalId} ${name} ${one.externalId}`)
      }
    }
  }
}

function isOfKind(kind: string, value: unknown): boolean {
  const isReference = (one: unknown) => typeof (one as { externalId?: unknown }).externalId === 'string'
  switch (kind) {
    case 'boolean':
      return typeof value === 'boolean'
    case 'date':
      return /^\d{4}-\d\d-\d\d$/.test(String(value)) && !Number.isNaN(Date.parse(String(value)))
    case 'guid':
      return GUID.test(String(value))
    case 'guids':
      return Array.isArray(value) && value.length > 0 && value.every((one) => /^[0-9a-f-]{36}$/.test(one))
    case 'reference':
      return isReference(value)
    case 'references':
      return Array.isArray(value) && value.length > 0 && value.every(isReference)
    default:
      return typeof value === 'string' && value !== ''
  }
}
