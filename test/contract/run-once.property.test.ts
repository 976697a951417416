import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { cosmosIdempotencyStore } from '../../shared/cosmos/idempotency-store.ts'
import type { IdempotencyStore } from '../../shared/domain/idempotency/idempotency-record.ts'
import { type Creation, runOnce, type StoredResult } from '../../shared/domain/idempotency/run-once.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const IN_PROGRESS_MS = 30_000
const store = cosmosIdempotencyStore((await localDatabase())('idempotencyKeys'))

/** How an attempt ends: it succeeds, is refused, fails, or its process ends, before or after the creation. */
const ENDINGS = ['succeeds', 'succeeds', 'refused', 'fails before', 'fails after', 'dies before', 'dies after'] as const
type Ending = (typeof ENDINGS)[number]
type Request = { readonly key: string; readonly body: string; readonly ending: Ending; readonly pauseMs: number }

class ProcessEnded extends Error {}

/** A service that creates records. `made` has the body of the request that created each. */
function newService() {
  const callerId = randomUUID()
  const made = new Map<string, string>()
  const clock = { nowMs: Date.parse('2030-01-01T00:00:00Z') }
  const deps = {
    keys: store,
    log: { info() {}, warn() {}, error() {} },
    deriveId: derivedId,
    newId: randomUUID,
    nowMs: () => clock.nowMs,
    sleep: async () => {},
  }

  async function send({ key, body, ending }: Request): Promise<string> {
    let isDead = false
    const die = () => {
      isDead = true
      throw new ProcessEnded()
    }
    const work = async (creation: Creation): Promise<StoredResult> => {
      const id = creation.newId()
      if (made.has(id)) assert.ok(creation.isRetry, 'a first attempt found its ids in use')
      if (ending === 'refused' && !made.has(id)) throw new Refusal('GroupNotFound')
      if (ending === 'fails before') throw new Error('It failed')
      if (ending === 'dies before') die()
      made.set(id, body)
      if (ending === 'fails after') throw new Error('It failed')
      if (ending === 'dies after') die()
      return { data: id }
    }
    const keys = new Proxy(store, {
      get: (target, name: keyof IdempotencyStore) => (isDead ? async () => die() : target[name]),
    })
    const request = { tenantId: 'tenant', callerId, key, fingerprint: body }
    try {
      const { result, isReplayed } = await runOnce(request, work, { ...deps, keys })
      return `${isReplayed ? 'replayed' : 'created'} ${result.data}`
    } catch (error) {
      return error instanceof Refusal ? error.code : (error as Error).constructor.name
    }
  }
  return { send, made, clock, deps }
}

/** The expected state of a key, by the contract. */
type Expected = { body: string; inProgressUntilMs: number; isMade: boolean; isCompleted: boolean }

function expectation(known: Expected | undefined, { body, ending }: Request, nowMs: number): [string, Expected?] {
  if (known !== undefined && known.body !== body) return ['IdempotencyKeyReused', known]
  if (known?.isCompleted) return ['replayed', known]
  if (known !== undefined && known.inProgressUntilMs > nowMs) return ['IdempotencyKeyInUse', known]
  const before = { body, inProgressUntilMs: 0, isMade: known?.isMade ?? false, isCompleted: false }
  const inProgressUntilMs = nowMs + IN_PROGRESS_MS
  switch (ending) {
    case 'refused':
      if (before.isMade) break
      return known === undefined ? ['GroupNotFound'] : ['GroupNotFound', before]
    case 'fails before':
      return ['Error', before]
    case 'fails after':
      return ['Error', { ...before, isMade: true }]
    case 'dies before':
      return ['ProcessEnded', { ...before, inProgressUntilMs }]
    case 'dies after':
      return ['ProcessEnded', { ...before, inProgressUntilMs, isMade: true }]
    case 'succeeds':
  }
  return ['created', { ...before, isMade: true, isCompleted: true }]
}

describe('requests with an idempotency key', () => {
  const request = fc.record({
    key: fc.constantFrom('a', 'b'),
    body: fc.constantFrom('one', 'one', 'two'),
    ending: fc.constantFrom<Ending>(...ENDINGS),
    pauseMs: fc.constantFrom(0, 1_000, IN_PROGRESS_MS),
  })

  it('create once per key, whatever fails in between, and get the same result', async () => {
    const series = fc.asyncProperty(fc.array(request, { maxLength: 14 }), async (requests) => {
      const { send, made, clock } = newService()
      const known = new Map<string, Expected | undefined>()
      const ids = new Map<string, string>()
      for (const request of requests) {
        const [outcome, next] = expectation(known.get(request.key), request, clock.nowMs)
        known.set(request.key, next)
        const [word = '', id] = (await send(request)).split(' ')
        assert.equal(word, outcome)
        if (id !== undefined) {
          assert.equal(made.get(id), request.body)
          assert.equal(ids.get(request.key) ?? id, id)
          ids.set(request.key, id)
        }
        clock.nowMs += request.pauseMs
      }
      assert.equal(made.size, [...known.values()].filter((expected) => expected?.isMade).length)
    })
    await fc.assert(series, { numRuns: 150 })
  })

  it('create once when sent concurrently, also when the process of the first one ends', async () => {
    for (const ending of ['succeeds', 'dies before', 'dies after', 'fails after'] as const) {
      const { send, made, clock } = newService()
      const one = { key: 'a', body: 'one', pauseMs: 0 }
      const first = send({ ...one, ending })
      await Promise.all([first, ...Array.from({ length: 20 }, () => send({ ...one, ending: 'succeeds' }))])
      clock.nowMs += IN_PROGRESS_MS
      const last = await Promise.all(Array.from({ length: 20 }, () => send({ ...one, ending: 'succeeds' })))
      assert.equal(made.size, 1)
      const [id] = made.keys()
      const completed = last.filter((outcome) => outcome !== 'IdempotencyKeyInUse')
      assert.ok(completed.length > 0 && completed.every((outcome) => outcome.endsWith(String(id))), completed.join())
    }
  })

  const newRequest = () => ({ tenantId: 'tenant', callerId: randomUUID(), key: 'a', fingerprint: 'one' })

  it('get the result of the later attempt when that one has superseded a slow one', async () => {
    const { clock, deps } = newService()
    const [request, made] = [newRequest(), new Set<string>()]
    const slow = async (creation: Creation): Promise<StoredResult> => {
      made.add(creation.newId())
      clock.nowMs += IN_PROGRESS_MS
      const fast = await runOnce(request, async (again) => ({ data: again.newId() }), deps)
      made.add(String(fast.result.data))
      throw new Refusal('GroupAlreadyLinked')
    }
    const { result, isReplayed } = await runOnce(request, slow, deps)
    assert.deepEqual([[...made], isReplayed], [[result.data], true])
  })

  it('run again when the result is too large to store', async () => {
    const { deps } = newService()
    const [request, attempts] = [newRequest(), [] as boolean[]]
    const work = async (creation: Creation) => {
      attempts.push(creation.isRetry)
      return { data: `${creation.newId()}${'x'.repeat(600_000)}` }
    }
    const [first, second] = [await runOnce(request, work, deps), await runOnce(request, work, deps)]
    assert.deepEqual([second.result, attempts], [first.result, [false, true]])
  })
})
