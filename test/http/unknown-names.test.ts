import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TObject, TSchema } from 'typebox'
import { routeTables } from '../../functions/routes/all-routes.ts'
import type { Route } from '../../shared/http/route.ts'
import { misspeltMembers, misspeltParameters } from '../../shared/http/unknown-names.ts'
import { nearMiss } from '../../shared/kernel/near-misses.ts'
import { processorClock } from '../support/timing/processor-clock.ts'

type Schema = {
  readonly properties?: Readonly<Record<string, TSchema>>
  readonly items?: TSchema
  readonly anyOf?: readonly TSchema[]
}

const routes = routeTables().flatMap(({ routes }) => routes)

/** The place of a member in a body: names, and 0 for the entry of a list. */
type Place = readonly (string | 0)[]

function placesIn(schema: TSchema, at: Place = []): Place[] {
  const { properties = {}, items, anyOf = [] } = schema as Schema
  const members = Object.entries(properties).flatMap(([name, member]) => [
    [...at, name],
    ...placesIn(member, [...at, name]),
  ])
  return [...members, ...(items ? placesIn(items, [...at, 0]) : []), ...anyOf.flatMap((each) => placesIn(each, at))]
}

/** A body that has only this place. */
function bodyWith([step, ...rest]: Place): unknown {
  if (step === undefined) return 'anything'
  return step === 0 ? [bodyWith(rest)] : { [step]: bodyWith(rest) }
}

function misspellings(name: string): string[] {
  const one = [name.slice(1), `${name}x`, `${name.slice(0, 1)}x${name.slice(2)}`]
  const two = [name.slice(2), `${name}xx`, `x${name.slice(1, -1)}x`]
  const cases = [name.toUpperCase(), name.charAt(0).toUpperCase() + name.slice(1)]
  return [...cases, ...one, ...(name.length < 6 ? [] : two)].filter((written) => written !== name && written !== '')
}

/** Names of the same object that a misspelling may also be, or resemble. */
function siblings(schema: TSchema, place: Place): string[] {
  return placesIn(schema)
    .filter((other) => other.length === place.length && other.slice(0, -1).join('/') === place.slice(0, -1).join('/'))
    .map((other) => String(other.at(-1)))
}

describe('A misspelt name', () => {
  let memberCount = 0
  for (const route of routes.filter((route): route is Route & { body: TSchema } => route.body !== undefined)) {
    const places = placesIn(route.body).filter((place) => place.at(-1) !== 0)
    memberCount += places.length
    it(`of the body of ${route.operationId} is refused and told`, () => {
      for (const place of places) {
        assert.deepEqual(misspeltMembers(route.body, bodyWith(place)), [])
        const [name, known] = [String(place.at(-1)), siblings(route.body, place)]
        for (const written of misspellings(name).filter((word) => !known.includes(word))) {
          const [entry, ...more] = misspeltMembers(route.body, bodyWith([...place.slice(0, -1), written]))
          assert.equal(more.length, 0)
          assert.equal(entry?.code, 'UnknownMember', `${written} for ${name}`)
          assert.equal(entry?.target, `/${[...place.slice(0, -1), written].join('/')}`)
          assert.ok(known.some((each) => entry?.message.endsWith(`only ${each}`)))
        }
      }
    })
  }

  let parameterCount = 0
  for (const route of routes.filter((route): route is Route & { query: TObject } => route.query !== undefined)) {
    const known = Object.keys(route.query.properties)
    parameterCount += known.length
    it(`of the query of ${route.operationId} is refused and told`, () => {
      for (const name of known) {
        assert.deepEqual(misspeltParameters(route.query, new URLSearchParams({ [name]: 'x' })), [])
        for (const written of misspellings(name).filter((word) => !known.includes(word))) {
          const [entry] = misspeltParameters(
            route.query,
            new URLSearchParams([
              [written, 'x'],
              [written, 'y'],
            ]),
          )
          assert.deepEqual([entry?.code, entry?.target], ['UnknownParameter', written])
        }
      }
    })
  }

  it('was looked for everywhere', () => assert.ok(memberCount > 60 && parameterCount > 30))

  it('is no name of a record that the API returns, so that records can be sent back', () => {
    for (const { body, reply, operationId } of routes) {
      if (body === undefined) continue
      const known = siblings(body, ['any'])
      const returned = siblings(reply.schema, ['any'])
      assert.deepEqual(
        returned.filter((name) => nearMiss(name, known) !== undefined),
        [],
        operationId,
      )
    }
  })
})

describe('A name', () => {
  for (const [name, known, meant] of [
    ['objecttype', 'objectType', 'objectType'],
    ['objekType', 'objectType', 'objectType'],
    ['obekTpe', 'objectType', undefined],
    ['nam', 'name', 'name'],
    ['ame', 'name', 'name'],
    ['na', 'name', undefined],
    ['ID', 'id', 'id'],
    ['a', 'id', undefined],
    ['filter', 'filter', undefined],
    ['filtre', 'filter', 'filter'],
    ['constructor', 'condition', undefined],
  ] as const) {
    it(`${name} is ${meant === undefined ? 'not' : ''} meant to be ${known}`, () => {
      assert.equal(nearMiss(name, [known]), meant)
    })
  }

  it('that is free, such as a key of metadata, is never misspelt', () => {
    const create = routes.find(({ operationId }) => operationId === 'createCriteriaCollection')
    const metadata = { attributes: { tag: 'x', attribute: 'y' } }
    assert.deepEqual(misspeltMembers(create?.body as TSchema, { metadata }), [])
  })

  it('costs little among very many', () => {
    const create = routes.find(({ operationId }) => operationId === 'createCriteriaCollection')
    const body = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field${index}`, 1]))
    const usedMs = processorClock()
    assert.deepEqual(misspeltMembers(create?.body as TSchema, body), [])
    assert.ok(usedMs() < 1000)
  })
})
