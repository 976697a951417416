import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import type { AccountConflict } from '../../shared/domain/connectors/account-claims.ts'
import { connectorObjectId } from '../../shared/domain/connectors/connector-object.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import {
  type Body,
  CORE,
  coreDataServiceOfTests,
  newTenant,
  remove,
  to,
  upsert,
} from '../support/api/core-data-service.ts'
import { PeopleModel } from '../support/contract/people-model.ts'

const RUNS_COUNT = 30
const TYPES = ['identity', 'orgUnit', 'relationship'] as const
const LISTS = { identity: 'identities', orgUnit: 'orgunits', relationship: 'relationships' } as const

/** The data of a connector object; undefined when it is deleted. */
type Said = Record<string, unknown> | undefined
type Step = {
  readonly connector: number
  readonly objectType: string
  readonly externalId: string
  readonly data: Said
}

const service = await coreDataServiceOfTests()

const name = fc.constantFrom('1', '2', '3')
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })
const reference = maybe(name.map(to))
const text = maybe(fc.constantFrom('a', 'b', 'c'))
/** Few keys, so that most identities share one. */
const key = fc.constantFrom('1', '2')
const account = maybe(key.map((digit) => `0a0a0a0a-0000-4000-8000-00000000000${digit}`))

const data = {
  identity: fc.record({
    displayName: text,
    mobile: text,
    nin: maybe(key),
    directoryObjectId: account,
    primaryRelationship: reference,
  }),
  orgUnit: fc.record({
    displayName: text,
    manager: reference,
    deputies: maybe(fc.uniqueArray(name).map((all) => all.map(to))),
  }),
  relationship: fc.record({ title: text, identity: reference, orgUnit: reference, 'custom/x': text }),
}
const step: fc.Arbitrary<Step> = fc
  .constantFrom(...TYPES, ...Array.from({ length: 6 }, () => 'identity' as const))
  .chain((objectType) =>
    fc.record({
      connector: fc.constantFrom(0, 1),
      objectType: fc.constant(objectType),
      externalId: name,
      data: fc.option(data[objectType] as fc.Arbitrary<Record<string, unknown>>, { nil: undefined, freq: 3 }),
    }),
  )

/** The final state of a connector object. */
type Final = {
  readonly connector: number
  readonly objectType: string
  readonly externalId: string
  readonly data: Record<string, unknown>
}

const keyOf = ({ connector, objectType, externalId }: Omit<Final, 'data'>): string =>
  `${connector} ${objectType} ${externalId}`

function finalState(steps: readonly Step[]): Final[] {
  const last = new Map(steps.map((step) => [keyOf(step), step]))
  return [...last.values()].flatMap((each) =>
    each.data === undefined
      ? []
      : [{ ...each, data: Object.fromEntries(Object.entries(each.data).filter(([, value]) => value !== undefined)) }],
  )
}

/** The objects of each core object: identities by person, all others alone. Those of a group are in order of age. */
function together(batches: readonly (readonly Step[])[], idOf: (object: Omit<Final, 'data'>) => string): Final[][] {
  const model = new PeopleModel()
  const byId = new Map(finalState(batches.flat()).map((object) => [idOf(object), object]))
  for (const batch of batches.flatMap(batchesOf)) {
    for (const { data: said, ...object } of inOrderOfDecisions(batch, (step) => model.find(idOf(step)) !== undefined)) {
      const id = idOf(object)
      if (said === undefined) model.remove(id)
      else model.put({ id, connector: object.connector, data: said })
    }
  }
  const others = [...byId.values()].filter(({ objectType }) => objectType !== 'identity')
  const people = model.people().map((person) => person.map((id) => byId.get(id) ?? assert.fail()))
  const older = (left: Final, right: Final) => left.connector - right.connector || (idOf(left) < idOf(right) ? -1 : 1)
  return [...people.map((person) => person.sort(older)), ...others.map((other) => [other])]
}

/** The core objects of the final state, identified by their contributors instead of ids. */
function folded(batches: readonly (readonly Step[])[], idOf: (object: Omit<Final, 'data'>) => string): unknown[] {
  const groups = together(batches, idOf)
  const groupOf = new Map(groups.flatMap((group) => group.map((object) => [keyOf(object), group.map(keyOf).join()])))
  const targets: Record<string, string> = {
    ...{ primaryRelationship: 'relationship', manager: 'identity', deputies: 'identity' },
    ...{ identity: 'identity', orgUnit: 'orgUnit' },
  }
  const resolved = (object: Final, attribute: string, value: unknown): unknown => {
    const objectType = targets[attribute]
    if (objectType === undefined) return value
    const of = ({ externalId }: { externalId: string }) =>
      groupOf.get(keyOf({ connector: object.connector, objectType, externalId })) ?? []
    const found = [...new Set([value].flat().flatMap((each) => of(each as { externalId: string })))]
    return found.length === 0 ? undefined : Array.isArray(value) ? found : found[0]
  }
  return groups.map((group) => {
    const attributes: Record<string, unknown> = {}
    for (const object of group) {
      for (const [attribute, value] of Object.entries(object.data))
        attributes[attribute] ??= resolved(object, attribute, value)
    }
    return { who: group.map(keyOf).join(), externalId: group[0]?.externalId, ...withoutUndefined(attributes) }
  })
}

const withoutUndefined = (attributes: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined))

/** The first identity lets its account go to the second one while it is merged with that of the other connector. */
const TAKEN_OVER_DURING_A_MERGE = [
  [withAccount(0, '3', '1'), withAccount(0, '1')],
  [withAccount(1, '1', '2')],
  [withAccount(0, '1', '1')],
  [withAccount(0, '3', '2')],
]

function withAccount(connector: 0 | 1, externalId: string, account?: string) {
  const directoryObjectId = account && `0a0a0a0a-0000-4000-8000-00000000000${account}`
  return { connector, objectType: 'identity' as const, externalId, data: { directoryObjectId } }
}

/** The second identity changes before the first one is added, which then joins no other. */
const ADDED_AFTER_A_CHANGE = [
  [withAccount(0, '2')],
  [withAccount(1, '3', '2')],
  [withAccount(0, '1', '2'), withAccount(0, '2', '2')],
]

describe('any order of writes, deletions and restorations by two connectors', () => {
  it('gives the core objects of a model that only remembers who was one person before', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 4, maxLength: 10 }),
        async (batches) => {
          const tenant = await newTenant(service)
          const connectors = [await tenant.addConnector('Older'), await tenant.addConnector('Younger')] as const
          for (const batch of batches) await sendAll(connectors, batch)
          const spaces = await Promise.all(connectors.map(({ send, data: path }) => send('GET', path)))
          const objects = spaces.flatMap(({ body }, connector) =>
            body.data.map((object: Body) => ({ ...object, connector })),
          )
          const expected = folded(batches, ({ connector, objectType, externalId }) => {
            const connectorId = connectors[connector]?.id ?? ''
            return connectorObjectId({ connectorId, objectType: objectType as ObjectType, externalId }, derivedId)
          })
          assert.deepEqual(byWho(await actual(tenant, objects)), byWho(expected))
        },
      ),
      { numRuns: RUNS_COUNT, examples: [[TAKEN_OVER_DURING_A_MERGE], [ADDED_AFTER_A_CHANGE]] },
    )
  })
})

type Connectors = readonly Awaited<ReturnType<Awaited<ReturnType<typeof newTenant>>['addConnector']>>[]

async function sendAll(connectors: Connectors, steps: readonly Step[]): Promise<void> {
  for (const batch of batchesOf(steps)) {
    const items = batch.map(({ objectType, externalId, data: said }) =>
      said === undefined ? remove(objectType, externalId) : upsert(objectType, externalId, said),
    )
    const results = await connectors[batch[0]?.connector ?? 0]?.batch(...items)
    assert.ok(results?.every(({ status }) => [200, 201, 404].includes(status)))
  }
}

/** Consecutive writes of one connector form a batch, unless they name an object twice. */
function batchesOf(steps: readonly Step[]): Step[][] {
  const batches: Step[][] = []
  for (const step of steps) {
    const last = batches.at(-1)
    const isNext = last?.[0]?.connector === step.connector && last.every((other) => keyOf(other) !== keyOf(step))
    if (isNext) last.push(step)
    else batches.push([step])
  }
  return batches
}

/** Of identities, changes take effect first, then deletions, then creations. */
function inOrderOfDecisions(batch: readonly Step[], exists: (step: Step) => boolean): Step[] {
  const identities = batch.filter(({ objectType }) => objectType === 'identity')
  const isDeletion = ({ data: said }: Step) => said === undefined
  const place = (step: Step) => (isDeletion(step) ? 1 : exists(step) ? 0 : 2)
  return identities.toSorted((left, right) => place(left) - place(right))
}

async function actual(tenant: Awaited<ReturnType<typeof newTenant>>, objects: readonly Body[]): Promise<unknown[]> {
  const contributors = Map.groupBy(objects, ({ coreObjectId }) => coreObjectId)
  const whoIs = (coreObjectId: string): string =>
    (contributors.get(coreObjectId) ?? [])
      .toSorted((left, right) => left.connector - right.connector || (left.id < right.id ? -1 : 1))
      .map(keyOf)
      .join()
  const named = (value: Body): unknown => {
    if (Array.isArray(value)) return value.map(named)
    return value?.objectId === undefined ? value : whoIs(value.objectId)
  }
  const records = (await Promise.all(TYPES.map((type) => tenant.all(LISTS[type])))).flat()
  const held = records.flatMap(({ directoryObjectId }) => directoryObjectId ?? [])
  assert.equal(new Set(held).size, held.length, 'An account has several holders')
  const { body } = await tenant.admin('GET', `${CORE}/account-conflicts`)
  const claims = body.data.flatMap((conflict: AccountConflict) =>
    conflict.claimantIds.map((claimantId) => [claimantId, { directoryObjectId: conflict.directoryObjectId }]),
  )
  const claimOf = new Map<string, object>(claims)
  return records.map(({ id, lastUpdated: _lastUpdated, ...attributes }) => ({
    who: whoIs(id),
    // Which of several claimants holds an account depends on the order of the writes. That one of them does, does not.
    ...claimOf.get(id),
    ...Object.fromEntries(Object.entries(attributes).map(([attribute, value]) => [attribute, named(value)])),
  }))
}

const byWho = (records: readonly unknown[]) =>
  records.toSorted((left, right) => ((left as { who: string }).who < (right as { who: string }).who ? -1 : 1))
