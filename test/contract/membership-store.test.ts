import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import type { Container } from '@azure/cosmos'
import fc from 'fast-check'
import { cosmosCriteriaHistory } from '../../shared/cosmos/members/member-history-store.ts'
import { cosmosMembershipStore } from '../../shared/cosmos/members/membership-store.ts'
import type { EvaluatedMembers, MembershipChange } from '../../shared/domain/collections/membership-store.ts'
import type { MemberEvent } from '../../shared/domain/history/member-history.ts'
import { localAccount } from '../support/contract/local-database.ts'

const TENANT = '00000000-0000-4000-8000-000000000001'
const { cosmos, container } = await localAccount()
const options = { historyDays: 400, nowMs: () => 1_700_000_000_000 }
const store = cosmosMembershipStore(container('members'), options)
/** Another instance, with a cache of its own. */
const other = cosmosMembershipStore(container('members'), options)

const knownIds = new Map<number, string>()

/** GUIDs that are spread over all prefixes, as real ids are. */
function idOf(number: number): string {
  const id = knownIds.get(number) ?? newId(number)
  knownIds.set(number, id)
  return id
}

function newId(number: number): string {
  const hex = createHash('sha256').update(String(number)).digest('hex')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`
}

function idsOf(numbers: Iterable<number>): string[] {
  return [...new Set(numbers)].map(idOf).sort()
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

const HOUR_MS = 60 * 60_000

let collections = 0
const newCollection = () => idOf(1_000_000 + ++collections)

/** All changes have one cause. */
const evaluation = (ids: string[], definitionKey = '1'): EvaluatedMembers => ({
  ids,
  definitionKey,
  evaluatedAtMs: 1_700_000_000_000,
  epoch: 1,
  unfencedEpoch: 0,
  attribute: async (change) => [{ cause: 'ObjectChanged', actorId: 'system', ...change }],
})

it('The versions of members are those of the collections that were evaluated, in one tenant', async () => {
  const [first, second, unknown] = [newCollection(), newCollection(), newCollection()]
  const { head } = await store.replace(TENANT, first, undefined, evaluation(idsOf([1])))
  await store.replace(TENANT, first, head, evaluation(idsOf([2])))
  await store.replace(TENANT, second, undefined, evaluation([]))
  const many = Array.from({ length: 120 }, newCollection)
  const versions = await store.versions(TENANT, [first, ...many, second, unknown])
  const expected = await Promise.all([first, second].map((id) => store.head(TENANT, id)))
  assert.deepEqual(
    [...versions],
    [first, second].map((id, index) => [id, expected[index]?.value.membershipVersion]),
  )
  assert.deepEqual(await store.versions('another tenant', [first]), new Map())
  const times = await container('members')
    .items.query<number>("SELECT VALUE c._ts FROM c WHERE c.id = 'head'")
    .fetchAll()
  const latestS = Math.max(...times.resources)
  const written = await store.versionsWrittenSince(TENANT, latestS - 60)
  assert.deepEqual(
    [first, second].map((id) => written.get(id)),
    [2, versions.get(second)],
  )
  assert.deepEqual(await store.versionsWrittenSince(TENANT, latestS + 1), new Map())
  assert.deepEqual(await store.versionsWrittenSince('another tenant', 0), new Map())
})

/** A container to which something else happens before the first page of each query is fetched. */
function queriedAfter(members: Container, happens: () => Promise<void>): Container {
  const query = (...args: Parameters<Container['items']['query']>) => {
    const pages = members.items.query(...args)
    return {
      hasMoreResults: () => pages.hasMoreResults(),
      async fetchNext() {
        await happens()
        return pages.fetchNext()
      },
    }
  }
  return { item: members.item.bind(members), items: { query } } as unknown as Container
}

/** A container that fails after a number of transactions, as in a crash of the process. */
function crashingAfter(members: Container, transactionCount: number): Container {
  let leftCount = transactionCount
  const batch: Container['items']['batch'] = async (...args) => {
    leftCount -= 1
    if (leftCount < 0) throw new Error('The process has crashed.')
    return members.items.batch(...args)
  }
  const query: Container['items']['query'] = (...args: Parameters<Container['items']['query']>) =>
    members.items.query(...args)
  return { item: members.item.bind(members), items: { batch, query } } as unknown as Container
}

/** Request units that the work costs. */
async function unitsOf(work: () => Promise<unknown>): Promise<number> {
  const before = cosmos.chargedUnits()
  await work()
  return cosmos.chargedUnits() - before
}

describe('MembershipStore on the local database', () => {
  it('has no members of a collection that was never evaluated', async () => {
    const collection = newCollection()
    assert.equal(await store.head(TENANT, collection), undefined)
    assert.equal(await store.members(TENANT, collection), undefined)
    assert.deepEqual([...(await store.membersAmong(TENANT, collection, [idOf(1)]))], [])
  })

  it('can be read while they are removed, and are then empty', async () => {
    const collection = newCollection()
    await store.replace(TENANT, collection, undefined, evaluation(idsOf(range(0, 7_000))))
    const members = container('members')
    const read: unknown[] = []
    const item: Container['item'] = (id, partition) => members.item(id, partition)
    // The cloud promises no order.
    const query = (...args: Parameters<Container['items']['query']>) => {
      const pages = members.items.query(...args)
      return {
        hasMoreResults: () => pages.hasMoreResults(),
        fetchNext: async () => ({ resources: (await pages.fetchNext()).resources.toReversed() }),
      }
    }
    const batch: typeof members.items.batch = async (...args) => {
      const response = await members.items.batch(...args)
      if (args[0].some(({ operationType }) => operationType === 'Delete')) {
        read.push(await store.members(TENANT, collection))
      }
      return response
    }
    await cosmosMembershipStore({ item, items: { batch, query } } as unknown as Container, options).remove(
      TENANT,
      collection,
    )
    assert.ok(read.length > 1)
    assert.ok(read.every((found) => found === undefined))
  })

  it('distinguishes an evaluated empty collection from one that was never evaluated', async () => {
    const collection = newCollection()
    await store.replace(TENANT, collection, undefined, evaluation([]))
    assert.deepEqual((await store.members(TENANT, collection))?.ids, [])
  })

  for (const count of [1, 100, 101, 400, 401, 7_000, 30_000]) {
    it(`keeps ${count} members, and returns their changes`, async () => {
      const collection = newCollection()
      const before = idsOf(range(0, count))
      const { head } = await store.replace(TENANT, collection, undefined, evaluation(before))
      const after = idsOf(range(1, count + 1))
      const { change } = await store.replace(TENANT, collection, head, evaluation(after))
      assert.deepEqual(change, { added: [idOf(count)], removed: [idOf(0)] })
      assert.deepEqual((await store.members(TENANT, collection))?.ids, after)
      assert.deepEqual(await store.membersAmong(TENANT, collection, [idOf(0), idOf(count)]), new Set([idOf(count)]))
    })
  }

  it('rewrites one chunk when one of many members changes', async () => {
    const collection = newCollection()
    const { head } = await store.replace(TENANT, collection, undefined, evaluation(idsOf(range(0, 7_000))))
    const etagsOf = async () => {
      const query = "SELECT c.id, c._etag FROM c WHERE c.type = 'chunk'"
      const { resources } = await container('members')
        .items.query<{ id: string; _etag: string }>(query, { partitionKey: `${TENANT}:${collection}` })
        .fetchAll()
      return new Map(resources.map(({ id, _etag }) => [id, _etag]))
    }
    const before = await etagsOf()
    await store.replace(TENANT, collection, head, evaluation(idsOf(range(0, 7_001))))
    const after = await etagsOf()
    assert.equal([...after].filter(([id, etag]) => before.get(id) !== etag).length, 1)
    assert.ok(before.size >= 16)
  })

  it('keeps up to 100 members in the head, and twice as many that were there before', async () => {
    const collection = newCollection()
    const partition = `${TENANT}:${collection}`
    let head: Awaited<ReturnType<typeof store.head>>
    const places: string[] = []
    for (const count of [100, 101, 200, 201, 101, 100, 0]) {
      const ids = idsOf(range(0, count))
      head = (await store.replace(TENANT, collection, head, evaluation(ids))).head
      for (const each of [store, other, cosmosMembershipStore(container('members'), options)]) {
        assert.deepEqual((await each.members(TENANT, collection))?.ids, ids)
      }
      const candidates = new Set(range(count - 1, count + 1).map(idOf))
      assert.deepEqual(
        await other.membersAmong(TENANT, collection, [...candidates]),
        candidates.intersection(new Set(ids)),
      )
      const { resource } = await container('members').item('head', partition).read()
      const query = "SELECT VALUE COUNT(1) FROM c WHERE c.type = 'chunk'"
      const { resources } = await container('members')
        .items.query<number>(query, { partitionKey: partition })
        .fetchAll()
      places.push(`${count}: ${resource.ids?.length ?? 'none'} and ${resources[0]}`)
    }
    const inHead = ['100: 100 and 0', '101: 101 and 0', '200: 200 and 0']
    assert.deepEqual(places, [...inHead, '201: none and 1', '101: none and 1', '100: 100 and 0', '0: 0 and 0'])
  })

  it('costs about the same for a change of one member in 300 and in 30,000, also for another instance', async () => {
    const costs: number[] = []
    for (const count of [100, 300, 30_000]) {
      const collection = newCollection()
      const { head } = await store.replace(TENANT, collection, undefined, evaluation(idsOf(range(0, count))))
      await other.members(TENANT, collection)
      const after = idsOf(range(0, count + 1))
      const written = await unitsOf(() => store.replace(TENANT, collection, head, evaluation(after)))
      const read = await unitsOf(async () => {
        assert.deepEqual((await other.members(TENANT, collection))?.ids, after)
      })
      costs.push(written + read)
    }
    const [inHead = 0, small = 0, large = 0] = costs
    assert.ok(large < small * 1.2 && large < 30, `${small} and ${large} RU`)
    assert.ok(inHead < small * 0.7, `${inHead} and ${small} RU`)
  })

  it('writes only the chunks that a change of many members touches', async () => {
    const collection = newCollection()
    const before = idsOf(range(0, 30_000))
    const { head } = await store.replace(TENANT, collection, undefined, evaluation(before))
    const after = idsOf(range(70, 30_070))
    const units = await unitsOf(() => store.replace(TENANT, collection, head, evaluation(after)))
    assert.ok(units < 2_500, `${units} RU`)
    assert.deepEqual((await other.members(TENANT, collection))?.ids, after)
  })

  it('shows a change of many members whole while its chunks are incomplete, and completes them later', async () => {
    for (const transactionCount of [1, 2]) {
      const collection = newCollection()
      const { head } = await store.replace(TENANT, collection, undefined, evaluation(idsOf(range(0, 7_000))))
      const after = idsOf(range(70, 7_070))
      const crashing = cosmosMembershipStore(crashingAfter(container('members'), transactionCount), options)
      await assert.rejects(crashing.replace(TENANT, collection, head, evaluation(after)), /has crashed/)

      const instance = cosmosMembershipStore(container('members'), options)
      assert.deepEqual((await instance.members(TENANT, collection))?.ids, after)
      const candidates = [idOf(0), idOf(69), idOf(70), idOf(7_069), idOf(7_070)]
      const among = await instance.membersAmong(TENANT, collection, candidates)
      assert.deepEqual(among, new Set([idOf(70), idOf(7_069)]))

      const now = await instance.head(TENANT, collection)
      const { change } = await instance.replace(TENANT, collection, now, evaluation(after))
      assert.deepEqual(change, { added: [], removed: [] })
      const { resource } = await container('members').item('head', `${TENANT}:${collection}`).read()
      assert.deepEqual([resource.chunksCompleteTo, resource.membershipVersion], [undefined, 2])
      await container('members').item('change:2', `${TENANT}:${collection}`).delete()
      assert.deepEqual(
        (await cosmosMembershipStore(container('members'), options).members(TENANT, collection))?.ids,
        after,
      )
    }
  })

  it('stores the time of evaluation, the count and a digest of the members in the head', async () => {
    const headOf = async (ids: string[]) => {
      const collection = newCollection()
      await store.replace(TENANT, collection, undefined, evaluation(ids))
      const { resource } = await container('members').item('head', `${TENANT}:${collection}`).read()
      return resource
    }
    const [some, same, others] = [
      await headOf(idsOf(range(0, 500))),
      await headOf(idsOf(range(0, 500))),
      await headOf(idsOf(range(1, 501))),
    ]
    assert.deepEqual([some.count, some.evaluatedAtMs, some.membershipVersion], [500, 1_700_000_000_000, 1])
    assert.equal(some.digest, same.digest)
    assert.notEqual(some.digest, others.digest)
  })

  it('writes nothing when members and definition are unchanged', async () => {
    const collection = newCollection()
    const { head } = await store.replace(TENANT, collection, undefined, evaluation([idOf(1)]))
    const again = await store.replace(TENANT, collection, head, {
      ...evaluation([idOf(1)]),
      evaluatedAtMs: 1_800_000_000_000,
    })
    assert.deepEqual(again.head, head)
  })

  it('stores changes whose times rise with their versions, although the clocks of instances differ', async () => {
    const collection = newCollection()
    const at = (ids: string[], evaluatedAtMs: number) => ({ ...evaluation(ids), evaluatedAtMs })
    const { head } = await store.replace(TENANT, collection, undefined, at([idOf(1)], 1_800_000_000_000))
    const again = await other.replace(TENANT, collection, head, at([idOf(2)], 1_700_000_000_000))
    assert.equal(again.head.value.evaluatedAtMs, 1_800_000_000_000)
    const { resource } = await container('members').item('change:2', `${TENANT}:${collection}`).read()
    assert.equal(resource.atMs, 1_800_000_000_000)
  })

  it('refuses an evaluation that quotes an old head', async () => {
    const collection = newCollection()
    const { head } = await store.replace(TENANT, collection, undefined, evaluation([idOf(1)]))
    await store.replace(TENANT, collection, head, evaluation([idOf(1), idOf(2)].sort()))
    await assert.rejects(store.replace(TENANT, collection, head, evaluation([idOf(3)])), { code: 'StaleVersion' })
    await assert.rejects(store.replace(TENANT, collection, undefined, evaluation([idOf(3)])), { code: 'StaleVersion' })
  })

  it('writes an unchanged head again that is of an unfenced epoch, which refuses writes that quote the former one', async () => {
    const collection = newCollection()
    const { head } = await store.replace(TENANT, collection, undefined, evaluation(idsOf([1])))
    const again = { ...evaluation(idsOf([1])), epoch: 3, unfencedEpoch: 2 }
    const fenced = await store.replace(TENANT, collection, head, again)
    assert.equal(fenced.head.value.membershipVersion, 1)
    await assert.rejects(store.replace(TENANT, collection, head, evaluation(idsOf([2]))), { code: 'StaleVersion' })
    assert.equal((await store.replace(TENANT, collection, fenced.head, again)).head.version, fenced.head.version)
  })

  it('accepts one of many concurrent writes', async () => {
    const collection = newCollection()
    const { head } = await store.replace(TENANT, collection, undefined, evaluation([idOf(0)]))
    const writes = range(1, 9).map((number) => store.replace(TENANT, collection, head, evaluation([idOf(number)])))
    const outcomes = await Promise.allSettled(writes)
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    assert.equal((await store.members(TENANT, collection))?.ids.length, 1)
  })

  it('returns the changes after a version, and undefined beyond the history', async () => {
    const collection = newCollection()
    const first = await store.replace(TENANT, collection, undefined, evaluation([idOf(1)]))
    const second = await store.replace(TENANT, collection, first.head, evaluation([idOf(2)]))
    await store.replace(TENANT, collection, second.head, evaluation([idOf(2), idOf(3)].sort()))
    assert.deepEqual(await store.changesAfter(TENANT, collection, 1), [
      { added: [idOf(2)], removed: [idOf(1)] },
      { added: [idOf(3)], removed: [] },
    ])
    assert.deepEqual(await store.changesAfter(TENANT, collection, 3), [])
    assert.equal(await store.changesAfter(TENANT, collection, 4), undefined)
    await container('members').item('change:2', `${TENANT}:${collection}`).delete()
    assert.equal(await store.changesAfter(TENANT, collection, 1), undefined)
  })

  it('returns the accounts of changes after a version, unless one was stored without them or is too old', async () => {
    const collection = newCollection()
    const accountsOf = async ({ added, removed }: MembershipChange) =>
      ({ added, removed, withoutAccountCount: 0, accountCount: 1, readAtMs: 5 }) as const
    const first = await store.replace(TENANT, collection, undefined, evaluation(idsOf([1])))
    const second = await store.replace(TENANT, collection, first.head, { ...evaluation(idsOf([1, 2])), accountsOf })
    const accountsIn = async (version: number) => {
      const found = await other.accountsAfter(TENANT, collection, version)
      return (
        found && { added: found.changes.map(({ added }) => added), last: found.last.added, key: found.definitionKey }
      )
    }
    assert.deepEqual(await accountsIn(1), { added: [[idOf(2)]], last: [idOf(2)], key: '1' })
    // No change: the last one tells how many members have an account.
    assert.deepEqual(await accountsIn(2), { added: [], last: [idOf(2)], key: '1' })
    assert.deepEqual([await accountsIn(0), await accountsIn(3)], [undefined, undefined])
    const third = await store.replace(TENANT, collection, second.head, { ...evaluation(idsOf([2])), accountsOf })
    assert.deepEqual(await accountsIn(1), { added: [[idOf(2)], []], last: [], key: '1' })
    await store.replace(TENANT, collection, third.head, evaluation(idsOf([2]), '2'))
    assert.equal((await accountsIn(2))?.key, '2')
    const later = cosmosMembershipStore(container('members'), {
      ...options,
      nowMs: () => options.nowMs() + 25 * HOUR_MS,
    })
    assert.equal(await later.accountsAfter(TENANT, collection, 2), undefined)
    await container('members').item('change:2', `${TENANT}:${collection}`).delete()
    assert.equal(await accountsIn(1), undefined)
    const current = await store.head(TENANT, collection)
    await store.replace(TENANT, collection, current, evaluation(idsOf([2, 3]), '2'))
    assert.deepEqual([await accountsIn(2), await accountsIn(3)], [undefined, undefined])
  })

  it('keeps every change with its causes, of any size', async () => {
    const collection = newCollection()
    const history = cosmosCriteriaHistory(container('members'), store)
    const always = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }
    let head: Awaited<ReturnType<typeof store.replace>>['head'] | undefined
    const expected: string[] = []
    for (const [from, to] of [
      [0, 12_000],
      [0, 11_900],
      [500, 11_901],
      [20_000, 20_001],
    ] as const) {
      const ids = idsOf(range(from, to))
      const attribute: EvaluatedMembers['attribute'] = async ({ added, removed }) => [
        { cause: 'Merged', actorId: 'one', added: added.slice(0, 5), removed: removed.slice(0, 5) },
        { cause: 'ObjectChanged', actorId: 'other', added: added.slice(5), removed: removed.slice(5) },
      ]
      const written = await store.replace(TENANT, collection, head, { ...evaluation(ids), attribute })
      head = written.head
      const { membershipVersion } = head.value
      for (const [change, list] of Object.entries({ Added: written.change.added, Removed: written.change.removed })) {
        for (const [index, id] of list.entries()) {
          expected.push(
            [membershipVersion, change, id, ...(index < 5 ? ['Merged', 'one'] : ['ObjectChanged', 'other'])].join(),
          )
        }
      }
    }
    const found: MemberEvent[] = []
    for await (const events of history.newestFirst(TENANT, collection, always)) found.push(...events)
    const texts = found.map(({ membershipVersion, change, objectId, cause, actorId }) =>
      [membershipVersion, change, objectId, cause, actorId].join(),
    )
    assert.deepEqual(texts.toSorted(), expected.toSorted())
    const positions = found.map(({ membershipVersion, index }) => membershipVersion * 1e6 + index)
    assert.deepEqual(
      positions,
      positions.toSorted((left, right) => right - left),
    )
    const rest: MemberEvent[] = []
    const middle = found[found.length - 4_000]
    for await (const events of history.newestFirst(TENANT, collection, always, middle)) rest.push(...events)
    assert.deepEqual(rest, found.slice(-3_999))
    const one = idOf(11_950)
    const ofOne: MemberEvent[] = []
    for await (const events of history.ofObject(TENANT, collection, one, always)) ofOne.push(...events)
    assert.deepEqual(
      ofOne,
      found.filter(({ objectId }) => objectId === one),
    )
    assert.deepEqual(
      ofOne.map(({ change }) => change),
      ['Removed', 'Added'],
    )
  })

  it('has the members of a large first evaluation in the history, without storing them twice', async () => {
    const collection = newCollection()
    const partition = `${TENANT}:${collection}`
    const history = cosmosCriteriaHistory(container('members'), store)
    const always = { fromMs: 0, toMs: Number.MAX_SAFE_INTEGER }
    const first = idsOf(range(0, 11_000))
    let head: Awaited<ReturnType<typeof store.replace>>['head'] | undefined
    for (const ids of [first, idsOf(range(0, 10_999)), idsOf(range(10_999, 22_000)), idsOf(range(10_500, 22_001))]) {
      head = (await store.replace(TENANT, collection, head, evaluation(ids))).head
    }
    const { resources: parts } = await container('members')
      .items.query("SELECT VALUE c.partsOf FROM c WHERE c.type = 'changePart'", { partitionKey: partition })
      .fetchAll()
    assert.equal(new Set(parts).size, 1)
    const eventsOf = async (pages: AsyncIterable<readonly MemberEvent[]>) => (await Array.fromAsync(pages)).flat()
    const ofFirst = (events: readonly MemberEvent[]) =>
      events.filter(({ membershipVersion }) => membershipVersion === 1)
    const added = (events: readonly MemberEvent[]) => events.map(({ objectId, change }) => `${objectId} ${change}`)
    const all = await eventsOf(history.newestFirst(TENANT, collection, always))
    assert.deepEqual(
      added(ofFirst(all)),
      first.toReversed().map((id) => `${id} Added`),
    )
    assert.deepEqual(ofFirst(await eventsOf(history.since(TENANT, collection, 0))), ofFirst(all))
    const [middle] = all.slice(-4_000)
    assert.deepEqual(await eventsOf(history.newestFirst(TENANT, collection, always, middle)), all.slice(-3_999))
    for (const id of [0, 10_500, 10_999, 11_000, 22_000, 30_000].map(idOf)) {
      const ofObject = await eventsOf(history.ofObject(TENANT, collection, id, always))
      assert.deepEqual(added(ofObject), added(all.filter(({ objectId }) => objectId === id)), id)
      const [newest] = ofObject
      assert.deepEqual(await eventsOf(history.ofObject(TENANT, collection, id, always, newest)), ofObject.slice(1))
    }
    // Without a later change, what was before it is not known.
    await container('members').item('change:2', partition).delete()
    assert.deepEqual(ofFirst(await eventsOf(history.newestFirst(TENANT, collection, always))), [])
    assert.deepEqual(ofFirst(await eventsOf(history.ofObject(TENANT, collection, idOf(0), always))), [])
  })

  it('returns no partial members when all of them are replaced between reading the head and the chunks', async () => {
    const collection = newCollection()
    const [some, others] = [idsOf(range(0, 7_000)), idsOf(range(10_000, 18_000))]
    const { head } = await store.replace(TENANT, collection, undefined, evaluation(some))
    let isReplaced = false
    const replaceOnce = async () => {
      if (isReplaced) return
      isReplaced = true
      await store.replace(TENANT, collection, head, evaluation(others))
    }
    const late = cosmosMembershipStore(queriedAfter(container('members'), replaceOnce), options)
    const seen = (await late.members(TENANT, collection))?.ids
    assert.equal(seen?.length, 8_000)
    assert.deepEqual(seen, others)
  })

  it('finds a candidate who stays a member while all members are replaced', async () => {
    const collection = newCollection()
    const { head } = await store.replace(TENANT, collection, undefined, evaluation(idsOf(range(0, 7_000))))
    let isReplaced = false
    const replaceOnce = async () => {
      if (isReplaced) return
      isReplaced = true
      await store.replace(TENANT, collection, head, evaluation(idsOf(range(0, 18_000))))
    }
    const late = cosmosMembershipStore(queriedAfter(container('members'), replaceOnce), options)
    assert.deepEqual(await late.membersAmong(TENANT, collection, idsOf([1, 20_000])), new Set(idsOf([1])))
  })

  it('finds no candidate when the collection is removed meanwhile', async () => {
    const collection = newCollection()
    await store.replace(TENANT, collection, undefined, evaluation(idsOf(range(0, 7_000))))
    const late = cosmosMembershipStore(
      queriedAfter(container('members'), () => other.remove(TENANT, collection)),
      options,
    )
    assert.deepEqual(await late.membersAmong(TENANT, collection, idsOf([1])), new Set())
  })

  it('deletes everything of a removed collection', async () => {
    const collection = newCollection()
    await store.replace(TENANT, collection, undefined, evaluation(idsOf(range(0, 2_000))))
    await store.remove(TENANT, collection)
    assert.equal(await store.members(TENANT, collection), undefined)
  })

  it('deletes the chunks of a writer that crashed before the head named them, an hour later', async () => {
    let nowMs = options.nowMs()
    const { container: containerOf } = await localAccount(() => nowMs)
    const members = containerOf('members')
    const current = cosmosMembershipStore(members, options)
    const collection = newCollection()
    const generations = async () => {
      const query = "SELECT VALUE c.generation FROM c WHERE c.type = 'chunk'"
      const partitionKey = `${TENANT}:${collection}`
      const { resources } = await members.items.query<string>(query, { partitionKey }).fetchAll()
      return new Set(resources).size
    }
    const { head } = await current.replace(TENANT, collection, undefined, evaluation(idsOf(range(0, 500))))
    const crashing = cosmosMembershipStore(crashingAfter(members, 1), options)
    const many = idsOf(range(0, 40_000))
    await assert.rejects(crashing.replace(TENANT, collection, head, evaluation(many)), /has crashed/)
    assert.equal(await generations(), 2)
    nowMs += 61 * 60_000
    await current.replace(TENANT, collection, head, evaluation(many))
    assert.equal(await generations(), 1)
  })

  it('has the last evaluation for instances that read it and are interrupted at any time', async () => {
    const series = fc.array(
      fc.record({
        from: fc.nat(60),
        length: fc.integer({ min: 7_000, max: 7_060 }),
        crashAfter: fc.nat(4),
        reads: fc.nat(3),
      }),
      { minLength: 1, maxLength: 6 },
    )
    await fc.assert(
      fc.asyncProperty(series, async (steps) => {
        const collection = newCollection()
        const instances = [store, other]
        let ids = idsOf(range(0, 7_000))
        await store.replace(TENANT, collection, undefined, evaluation(ids))
        for (const [index, { from, length, crashAfter, reads }] of steps.entries()) {
          const next = idsOf(range(from, from + length))
          const head = await other.head(TENANT, collection)
          const writer = cosmosMembershipStore(crashingAfter(container('members'), crashAfter), options)
          await (crashAfter === 0 ? (instances[index % 2] ?? store) : writer)
            .replace(TENANT, collection, head, evaluation(next))
            .catch((error: Error) => assert.match(error.message, /has crashed/))
          const now = await other.head(TENANT, collection)
          if (now?.version !== head?.version) ids = next
          for (const instance of [...instances, cosmosMembershipStore(container('members'), options)].slice(0, reads)) {
            assert.deepEqual((await instance.members(TENANT, collection))?.ids, ids)
          }
          const candidates = [...ids.slice(0, 50), ...next.slice(0, 50), idOf(from), idOf(from + length)]
          const members = new Set(ids)
          const among = await other.membersAmong(TENANT, collection, candidates)
          assert.deepEqual(among, new Set(candidates.filter((id) => members.has(id))))
        }
      }),
      { numRuns: 4 },
    )
  })

  it('has the last evaluation after any series of them, and a history that leads to it', async () => {
    const memberships = fc.array(fc.tuple(fc.nat(40), fc.nat(2_000)), { minLength: 1, maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(memberships, async (ranges) => {
        const collection = newCollection()
        let head: Awaited<ReturnType<typeof store.replace>>['head'] | undefined
        let replayed = new Set<string>()
        for (const [from, length] of ranges) {
          const ids = idsOf(range(from, from + length))
          const { head: next, change } = await store.replace(TENANT, collection, head, evaluation(ids))
          replayed = new Set([...replayed].filter((id) => !change.removed.includes(id)))
          for (const id of change.added) replayed.add(id)
          assert.deepEqual((await store.members(TENANT, collection))?.ids, ids)
          assert.deepEqual([...replayed].sort(), ids)
          head = next
        }
      }),
      { numRuns: 15 },
    )
  })
})

it('A head that was read is used by the next evaluation without another read', async () => {
  const id = newCollection()
  await other.replace(TENANT, id, undefined, evaluation(idsOf([1])))
  const head = await store.head(TENANT, id)
  const readCount = () => cosmos.operations().read
  const before = readCount()
  await store.replace(TENANT, id, head, evaluation(idsOf([1])))
  assert.equal(readCount() - before, 0)
})
