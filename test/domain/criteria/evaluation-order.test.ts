import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { evaluationOrder, findCycle } from '../../../shared/domain/criteria/evaluation-order.ts'

const references = (all: Record<string, string[]>): Map<string, string[]> => new Map(Object.entries(all))

describe('The order of evaluation', () => {
  it('puts each collection after those it refers to, and takes unknown ones as given', () => {
    const all = references({ staff: ['nurses', 'gone'], nurses: ['people'], alone: [], people: [] })
    assert.deepEqual(evaluationOrder(all), { order: ['alone', 'people', 'nurses', 'staff'], cyclic: [] })
  })

  it('sets apart a cycle and what refers to it', () => {
    const all = references({ a: ['b'], b: ['a'], c: ['a'], own: ['own'], free: [] })
    assert.deepEqual(evaluationOrder(all), { order: ['free'], cyclic: ['a', 'b', 'c', 'own'] })
  })

  it('orders whatever findCycle finds no cycle in', () => {
    const graph = fc.array(fc.array(fc.nat(7), { maxLength: 3 }), { minLength: 8, maxLength: 8 })
    const property = fc.property(graph, (targets) => {
      const all = new Map(targets.map((ids, index) => [String(index), ids.map(String)]))
      const { order, cyclic } = evaluationOrder(all)
      assert.deepEqual([...order, ...cyclic].sort(), [...all.keys()])
      for (const [index, id] of order.entries()) {
        for (const target of all.get(id) ?? []) assert.ok(order.indexOf(target) < index)
      }
      const inCycle = [...all].filter(([id, ids]) => findCycle(id, ids, (other) => all.get(other) ?? []))
      assert.equal(inCycle.length > 0, cyclic.length > 0)
      for (const [id] of inCycle) assert.ok(cyclic.includes(id))
    })
    fc.assert(property, { numRuns: 500 })
  })
})

describe('Finding a cycle', () => {
  const all = references({ b: ['c', 'x'], c: ['d'], d: ['a'], x: [] })
  const referencesOf = (id: string): string[] => all.get(id) ?? []

  it('names the collections along it', () => {
    assert.deepEqual(findCycle('a', ['b'], referencesOf), ['a', 'b', 'c', 'd', 'a'])
    assert.deepEqual(findCycle('a', ['x', 'a'], referencesOf), ['a', 'a'])
  })

  it('goes by the references given, not by the stored ones of the collection itself', () => {
    assert.equal(findCycle('c', ['x'], referencesOf), undefined)
    assert.equal(findCycle('new', ['a', 'b'], referencesOf), undefined)
  })

  it('follows a chain of 200,000', () => {
    const next = (id: string): string[] => (id === '200000' ? ['start'] : [String(Number(id) + 1)])
    assert.equal(findCycle('start', ['1'], next)?.length, 200_002)
  })
})
