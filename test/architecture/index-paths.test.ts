import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { CONTAINERS, type ContainerDefinition, type ContainerId } from '../../shared/cosmos/containers.ts'

const STORES = new URL('../../shared/cosmos/', import.meta.url)

const sources = globSync('**/*.ts', { cwd: STORES }).map((file) => readFileSync(new URL(file, STORES), 'utf8'))

/**
 * The properties that queries on a container name, as paths. The comments of a file say on which containers its queries
 * run; queries of a file that names none may run on any.
 */
function queriedPaths(id: ContainerId): Set<string> {
  const paths = sources.flatMap((source) => {
    const containers = [...source.matchAll(/\bContainers? `(\w+)`/g)].map(([, container]) => container)
    return containers.length === 0 || containers.includes(id) ? pathsOf(source) : []
  })
  return new Set(paths)
}

/** `c.a.b` and `c["a"].b` as `/a/b`, up to the first part that a template fills in. */
function pathsOf(source: string): string[] {
  const found = source.matchAll(/\bc(?<path>(?:\.[A-Za-z_]\w*|\["\w+"\])+)/g)
  return [...found].map(({ groups }) => `/${groups?.path?.match(/\w+/g)?.join('/')}`)
}

/** Whether a path of an index policy covers a property: `/a/?` covers this one, `/a/*` also all below it. */
function covers(policyPath: string, property: string): boolean {
  return policyPath.endsWith('/*')
    ? property === policyPath.slice(0, -2) || property.startsWith(policyPath.slice(0, -1))
    : property === policyPath.slice(0, -2)
}

describe('A property that a query names', () => {
  for (const definition of CONTAINERS as readonly (ContainerDefinition & { id: ContainerId })[]) {
    const { id, indexed = [], unindexed = [] } = definition
    const queried = queriedPaths(id)

    it(`is indexed in ${id}`, () => {
      const without = [...queried].filter((path) => unindexed.some((each) => covers(each, path)))
      assert.deepEqual(
        without.filter((path) => !indexed.includes(path)),
        [],
      )
    })

    it(`is the only kind that is indexed below an unindexed path of ${id}`, () => {
      const exceptions = indexed.filter((path) => unindexed.some((each) => covers(each, path)))
      assert.deepEqual(
        exceptions.filter((path) => !queried.has(path)),
        [],
      )
    })
  }

  it('is found by this test', () => {
    assert.ok(queriedPaths('connectorObjects').has('/data/nin'))
    assert.ok(queriedPaths('connectorObjects').has('/references/parent'))
    assert.ok(queriedPaths('jobs').has('/createdAt'))
    assert.ok(!queriedPaths('jobs').has('/data/nin'))
  })
})

/** The names of the members of types and schemas, which documents have. */
const declaredNames: ReadonlySet<string> = new Set(
  globSync('{domain,cosmos}/**/*.ts', { cwd: new URL('../../shared/', import.meta.url) })
    .filter((file) => file !== 'cosmos/containers.ts')
    .map((file) => readFileSync(new URL(`../../shared/${file}`, import.meta.url), 'utf8'))
    .flatMap((source) => [
      ...source.matchAll(/\b(\w+)\??: (?:Type\.|[A-Z]\w+\b|unknown\b)/g),
      ...source.matchAll(/\breadonly (\w+)\??:/g),
    ])
    .map(([, name = '']) => name),
)

describe('A path that is named to the index', () => {
  for (const { id, indexed = [], unindexed = [] } of CONTAINERS as readonly ContainerDefinition[]) {
    it(`is a member of a stored document: ${id}`, () => {
      const names = [...indexed, ...unindexed].map((path) => path.split('/')[1] ?? '')
      assert.deepEqual(
        names.filter((name) => !declaredNames.has(name)),
        [],
      )
    })
  }
})
