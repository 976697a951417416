import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { cosmosIdempotencyStore } from '../../shared/cosmos/idempotency-store.ts'
import type { IdempotencyStore } from '../../shared/domain/idempotency/idempotency-record.ts'
import type { Creation } from '../../shared/domain/idempotency/run-once.ts'
import { runOnce, type StoredResult } from '../../shared/domain/idempotency/run-once.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { localDatabase } from './local-database.ts'

const CLAIM_MS = 30_000
const store = cosmosIdempotencyStore((await localDatabase())('idempotencyKeys'))

/** How a request fares: it ends well, is refused, fails, or the service dies in it, before the creation or after. */
const ENDINGS = ['well', 'well', 'refused', 'fails before', 'fails after', 'dies before', 'dies after'] as const
type Ending = (typeof ENDINGS)[number]
type Request = { readonly key: string; readonly body: string; readonly ending: Ending; readonly pauseMs: number }

class Death extends Error {}

/** A service with one clock that creates things, each with the body that it was created from. */
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
      throw new Death()
    }
    const work = async (creation: Creation): Promise<StoredResult> => {
      const id = creation.newId()
      if (made.has(id)) assert.ok(creation.isRetry, 'a first try found its ids in use')
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
      const { answer, isReplayed } = await runOnce(request, work, { ...deps, keys })
      return `${isReplayed ? 'again' : 'made'} ${answer.data}`
    } catch (error) {
      return error instanceof Refusal ? error.code : (error as Error).constructor.name
    }
  }
  return { send, made, clock, deps }
}

/** What a key has come to, in the words of the contract alone. */
type Expected = { body: string; busyUntilMs: number; isMade: boolean; isAnswered: boolean }

function expectation(known: Expected | undefined, { body, ending }: Request, nowMs: number): [string, Expected?] {
  if (known !== undefined && known.body !== body) return ['IdempotencyKeyReused', known]
  if (known?.isAnswered) return ['again', known]
  if (known !== undefined && known.busyUntilMs > nowMs) return ['IdempotencyKeyInUse', known]
  const before = { body, busyUntilMs: 0, isMade: known?.isMade ?? false, isAnswered: false }
  const busyUntilMs = nowMs + CLAIM_MS
  switch (ending) {
    case 'refused':
      if (before.isMade) break
      return known === undefined ? ['GroupNotFound'] : ['GroupNotFound', before]
    case 'fails before':
      return ['Error', before]
    case 'fails after':
      return ['Error', { ...before, isMade: true }]
    case 'dies before':
      return ['Death', { ...before, busyUntilMs }]
    case 'dies after':
      return ['Death', { ...before, busyUntilMs, isMade: true }]
    case 'well':
  }
  return ['made', { ...before, isMade: true, isAnswered: true }]
}

describe('requests under keys', () => {
  const request = fc.record({
    key: fc.constantFrom('a', 'b'),
    body: fc.constantFrom('one', 'one', 'two'),
    ending: fc.constantFrom<Ending>(...ENDINGS),
    pauseMs: fc.constantFrom(0, 1_000, CLAIM_MS),
  })

  it('create once for each key, whatever fails or dies in between, and are answered alike', async () => {
    const series = fc.asyncProperty(fc.array(request, { maxLength: 14 }), async (requests) => {
      const { send, made, clock } = newService()
      const known = new Map<string, Expected | undefined>()
      const answers = new Map<string, string>()
      for (const each of requests) {
        const [outcome, next] = expectation(known.get(each.key), each, clock.nowMs)
        known.set(each.key, next)
        const [word = '', id] = (await send(each)).split(' ')
        assert.equal(word, outcome)
        if (id !== undefined) {
          assert.equal(made.get(id), each.body)
          assert.equal(answers.get(each.key) ?? id, id)
          answers.set(each.key, id)
        }
        clock.nowMs += each.pauseMs
      }
      assert.equal(made.size, [...known.values()].filter((expected) => expected?.isMade).length)
    })
    await fc.assert(series, { numRuns: 150 })
  })

  it('sent at once create once, also when the first of them dies', async () => {
    for (const ending of ['well', 'dies before', 'dies after', 'fails after'] as const) {
      const { send, made, clock } = newService()
      const one = { key: 'a', body: 'one', pauseMs: 0 }
      const first = send({ ...one, ending })
      await Promise.all([first, ...Array.from({ length: 20 }, () => send({ ...one, ending: 'well' }))])
      clock.nowMs += CLAIM_MS
      const last = await Promise.all(Array.from({ length: 20 }, () => send({ ...one, ending: 'well' })))
      assert.equal(made.size, 1)
      const [id] = made.keys()
      const answered = last.filter((answer) => answer !== 'IdempotencyKeyInUse')
      assert.ok(answered.length > 0 && answered.every((answer) => answer.endsWith(String(id))), answered.join())
    }
  })

  const newRequest = () => ({ tenantId: 'tenant', callerId: randomUUID(), key: 'a', fingerprint: 'one' })

  it('whose worker was slow and overtaken are answered as the one that took over answers', async () => {
    const { clock, deps } = newService()
    const [request, made] = [newRequest(), new Set<string>()]
    const slow = async (creation: Creation): Promise<StoredResult> => {
      made.add(creation.newId())
      clock.nowMs += CLAIM_MS
      const fast = await runOnce(request, async (again) => ({ data: again.newId() }), deps)
      made.add(String(fast.answer.data))
      throw new Refusal('GroupAlreadyLinked')
    }
    const { answer, isReplayed } = await runOnce(request, slow, deps)
    assert.deepEqual([[...made], isReplayed], [[answer.data], true])
  })

  it('with an answer too large to keep have it made again from what was created', async () => {
    const { deps } = newService()
    const [request, tries] = [newRequest(), [] as boolean[]]
    const work = async (creation: Creation) => {
      tries.push(creation.isRetry)
      return { data: `${creation.newId()}${'x'.repeat(600_000)}` }
    }
    const [first, second] = [await runOnce(request, work, deps), await runOnce(request, work, deps)]
    assert.deepEqual([second.answer, tries], [first.answer, [false, true]])
  })
})
