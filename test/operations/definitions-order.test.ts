import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { connectedGroups, type OrderedCollection, orderCollections } from '../../infra/definitions/collection-order.ts'

/** `C…` are criteria collections, `J…` joinable ones; a `+` after the name says that it is new. */
function collection(words: string): OrderedCollection {
  const [name = '', ...refersTo] = words.split(/[+ ]+/).filter((word) => word !== '')
  const kind = name.startsWith('J') ? 'joinable' : 'criteria'
  return { id: name, name, kind, isNew: words.includes('+'), refersTo }
}

const ordered = (changed: readonly string[], unchanged: readonly string[] = []) =>
  orderCollections(changed.map(collection), unchanged.map(collection))

describe('the order of changed collections', () => {
  for (const [claim, changed, unchanged, order] of [
    ['has new ones before changed ones', ['C1 C2', 'C2+'], [], ['C2', 'C1']],
    ['has a new one after the new ones that it refers to', ['C1+ C3 C2', 'C2+ C3', 'C3+'], [], ['C3', 'C2', 'C1']],
    ['is by name where nothing refers', ['C3+', 'C1+', 'C2+'], [], ['C1', 'C2', 'C3']],
    ['has a changed one after those that it refers to', ['C1 C2', 'C2'], [], ['C2', 'C1']],
    ['follows references over unchanged collections', ['C1 C5', 'C2'], ['C5 C2'], ['C2', 'C1']],
    ['follows references over new collections', ['C1 C5', 'C2', 'C5+ C2'], [], ['C5', 'C2', 'C1']],
    ['has a new policy after the new collections that it names', ['J1+ C2', 'C2+'], [], ['C2', 'J1']],
    ['has changed policies last', ['J1 C2', 'C2', 'C3'], [], ['C2', 'C3', 'J1']],
    ['ignores references to collections that it does not know', ['C1+ C9', 'C2 C9'], [], ['C1', 'C2']],
  ] as const) {
    it(claim, () => assert.deepEqual(ordered(changed, unchanged), { order, incomplete: new Set(), circle: undefined }))
  }

  it('has new policies that refer to themselves first, to be completed later', () => {
    const { order, incomplete, circle } = ordered(['J1+ J2', 'J2+ C1 J1', 'C1+ J2', 'J3+ J1'])
    assert.deepEqual(order, ['J1', 'J2', 'C1', 'J3'])
    assert.deepEqual(incomplete, new Set(['J1', 'J2']))
    assert.equal(circle, undefined)
    assert.deepEqual(ordered(['J1+ J1']).incomplete, new Set(['J1']))
  })

  it('does not take policies that exist for incomplete', () => {
    assert.deepEqual(ordered(['J1 J2', 'J2 J1']).incomplete, new Set())
  })

  it('names a circle of conditions, over unchanged ones too, but none over policies', () => {
    assert.deepEqual(ordered(['C1+ C2', 'C2+ C1']).circle, ['C1', 'C2', 'C1'])
    assert.deepEqual(ordered(['C1 C1']).circle, ['C1', 'C1'])
    assert.deepEqual(ordered(['C2 C5'], ['C5 C6', 'C6 C2']).circle, ['C2', 'C5', 'C6', 'C2'])
    assert.equal(ordered(['C1+ J1', 'J1+ C1']).circle, undefined)
    assert.equal(ordered(['C1 C2', 'C2'], ['C5 C1']).circle, undefined)
  })

  it('never has a circle in between, whatever referred to what before', () => {
    const names = ['C0', 'C1', 'C2', 'C3', 'C4', 'C5']
    // References only to names that are before in an order: there is no circle before, and none after.
    const acyclic = fc
      .tuple(fc.shuffledSubarray(names, { minLength: names.length }), fc.array(fc.tuple(fc.nat(5), fc.nat(5))))
      .map(([turned, pairs]) => {
        const references = new Map<string, Set<string>>(names.map((name) => [name, new Set()]))
        for (const [first, second] of pairs) {
          const [low, high] = [turned[Math.min(first, second)] ?? '', turned[Math.max(first, second)] ?? '']
          if (low !== high) references.get(high)?.add(low)
        }
        return references
      })
    fc.assert(
      fc.property(acyclic, acyclic, fc.subarray(names), fc.subarray(names), (before, after, changed, added) => {
        const state = new Map(names.map((name) => [name, before.get(name) ?? new Set<string>()]))
        for (const name of added) state.delete(name)
        for (const [, others] of state) for (const name of added) others.delete(name)
        const isChanged = (name: string) => changed.includes(name) || added.includes(name)
        const one = (name: string): OrderedCollection => {
          const refersTo = [...((isChanged(name) ? after.get(name) : state.get(name)) ?? [])]
          return { id: name, name, kind: 'criteria', isNew: added.includes(name), refersTo }
        }
        const rest = names.filter((name) => !isChanged(name))
        const { order, circle } = orderCollections(names.filter(isChanged).map(one), rest.map(one))
        assert.deepEqual([...order].sort(), names.filter(isChanged).sort())
        if (circle !== undefined) return
        for (const name of order) {
          state.set(name, new Set(one(name).refersTo))
          assert.ok(![...state.keys()].some((start) => leadsTo(start, start, state)), `a circle after ${name}`)
        }
      }),
    )
  })
})

function leadsTo(start: string, end: string, state: ReadonlyMap<string, ReadonlySet<string>>): boolean {
  const [seen, open] = [new Set<string>(), [...(state.get(start) ?? [])]]
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (name === end) return true
    if (seen.has(name)) continue
    seen.add(name)
    open.push(...(state.get(name) ?? []))
  }
  return false
}

describe('the groups of collections', () => {
  it('have one name for what references connect in whichever direction, and others for the rest', () => {
    const groupOf = connectedGroups([
      ['a', ['b', 'c']],
      ['d', ['c']],
      ['e', ['f']],
      ['g', []],
    ])
    const groups = new Map(['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => [id, groupOf(id)]))
    assert.equal(new Set(['a', 'b', 'c', 'd'].map((id) => groups.get(id))).size, 1)
    assert.equal(new Set(['e', 'f'].map((id) => groups.get(id))).size, 1)
    assert.equal(new Set(groups.values()).size, 3)
  })
})
