import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { CONTAINERS, type ContainerDefinition, type ContainerId } from '../../shared/cosmos/containers.ts'

/** Where the queries of each container stand. */
const QUERIES: Record<ContainerId, readonly string[]> = {
  coreObjects: ['core-object-store', 'core-object-changes', 'core-object-search', 'core-object-links', 'account-moves'],
  connectors: ['connector-store'],
  connectorObjects: ['connector-object-store'],
  collections: ['collection-store'],
  members: ['membership-store', 'membership-write'],
  requests: ['request-store'],
  links: ['link-store'],
  jobs: ['job-store'],
  tenants: ['tenant-store'],
  idempotencyKeys: ['idempotency-key-store'],
}

/** `c.a.b` and `c["a"].b` as `/a/b`; what a template fills in, and all below, is cut off. */
function pathsOf(file: string): Set<string> {
  const source = readFileSync(new URL(`../../shared/cosmos/${file}.ts`, import.meta.url), 'utf8')
  const found = source.matchAll(/\bc(?<path>(?:\.[A-Za-z_]\w*|\["\w+"\])+)/g)
  return new Set([...found].map(({ groups }) => `/${groups?.path?.match(/\w+/g)?.join('/')}`))
}

/** Whether a path of an index policy says something of a property: `/a/?` of this one, `/a/*` of all below. */
function covers(policyPath: string, property: string): boolean {
  return policyPath.endsWith('/*')
    ? property === policyPath.slice(0, -2) || property.startsWith(policyPath.slice(0, -1))
    : property === policyPath.slice(0, -2)
}

describe('what queries ask for', () => {
  for (const definition of CONTAINERS as readonly (ContainerDefinition & { id: ContainerId })[]) {
    const { id, indexed = [], unindexed = [] } = definition
    const asked = new Set(QUERIES[id].flatMap((file) => [...pathsOf(file)]))

    it(`has an index in ${id}`, () => {
      const without = [...asked].filter((path) => unindexed.some((each) => covers(each, path)))
      assert.deepEqual(
        without.filter((path) => !indexed.includes(path)),
        [],
      )
    })

    it(`is all that is indexed by name below an unindexed path of ${id}`, () => {
      const exceptions = indexed.filter((path) => unindexed.some((each) => covers(each, path)))
      assert.deepEqual(
        exceptions.filter((path) => !asked.has(path)),
        [],
      )
    })
  }

  it('is found in the sources at all', () => {
    assert.ok(pathsOf('connector-object-store').has('/data/nin'))
    assert.ok(pathsOf('connector-object-store').has('/references/parent'))
    assert.ok(pathsOf('job-store').has('/createdAt'))
  })
})
