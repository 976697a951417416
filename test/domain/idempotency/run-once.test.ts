import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { IdempotencyRecord, IdempotencyStore } from '../../../shared/domain/idempotency/idempotency-record.ts'
import {
  type Creation,
  findFromEarlierAttempt,
  runOnce,
  type StoredResult,
  singleAttempt,
} from '../../../shared/domain/idempotency/run-once.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'

const REQUEST = { tenantId: 'tenant', callerId: 'caller', key: 'key', fingerprint: 'body' }
const CREATED: StoredResult = { data: { id: 1 }, headers: { location: '/things/1' } }
const START_MS = Date.parse('2030-01-01T00:00:00Z')

type Work = (creation: Creation) => Promise<StoredResult>
const succeeds: Work = async () => CREATED
const fails: Work = async () => {
  throw new Error('It broke')
}
const isRefused: Work = async () => {
  throw new Refusal('GroupNotFound')
}

/** A service with one record at most. Stored versions are counted from 1. */
function newService() {
  const stored: { record: IdempotencyRecord | undefined; version: number } = { record: undefined, version: 0 }
  const store = (record: IdempotencyRecord | undefined): string => {
    stored.record = record
    stored.version += 1
    return String(stored.version)
  }
  const isCurrent = (version: string) => stored.record !== undefined && version === String(stored.version)
  const keys: IdempotencyStore = {
    find: async () => stored.record && { value: stored.record, version: String(stored.version) },
    add: async (record) => (stored.record === undefined ? store(record) : undefined),
    replace: async (record, version) => (isCurrent(version) ? store(record) : undefined),
    remove: async (_record, version) => {
      if (!isCurrent(version)) return false
      store(undefined)
      return true
    },
  }
  const clock = { nowMs: START_MS }
  const [sleeps, logged]: [number[], string[]] = [[], []]
  let seedCount = 0
  const log = (event: string) => void logged.push(event)
  const deps = {
    keys,
    log: { info: log, warn: log, error: log },
    deriveId: (...parts: string[]) => parts.join('-'),
    newId: () => {
      seedCount += 1
      return `seed ${seedCount}`
    },
    nowMs: () => clock.nowMs,
    sleep: async (delayMs: number) => void sleeps.push(delayMs),
  }
  /** The ids and the kind of each attempt that ran. */
  const attempts: string[] = []
  const run = (work: Work = succeeds, request = REQUEST) => {
    const recorded: Work = (creation) => {
      attempts.push(`${creation.newId()} ${creation.newId()}${creation.isRetry ? ' retry' : ''}`)
      return work(creation)
    }
    return runOnce(request, recorded, deps)
  }
  return { ...{ run, keys, deps, stored, clock, sleeps, logged, attempts } }
}

const FIRST = 'seed 1-1 seed 1-2'
const SECOND = 'seed 2-1 seed 2-2'

describe('A creation with an idempotency key', () => {
  it('runs once, and a repeated request gets its result', async () => {
    const { run, attempts } = newService()
    assert.deepEqual(await run(), { result: CREATED, isReplayed: false })
    assert.deepEqual(await run(), { result: CREATED, isReplayed: true })
    assert.deepEqual(attempts, [FIRST])
  })

  it('is refused for another request', async () => {
    const { run } = newService()
    await run()
    await assert.rejects(run(succeeds, { ...REQUEST, fingerprint: 'another' }), { code: 'IdempotencyKeyReused' })
  })

  it('begins anew after a refusal, with other ids', async () => {
    const { run, attempts } = newService()
    await assert.rejects(run(isRefused), { code: 'GroupNotFound' })
    await run()
    assert.deepEqual(attempts, [FIRST, SECOND])
  })

  it('continues after a fault, at once and with the same ids, also when the retry is refused', async () => {
    const { run, attempts } = newService()
    await assert.rejects(run(fails), /It broke/)
    await assert.rejects(run(isRefused), { code: 'GroupNotFound' })
    assert.deepEqual(await run(), { result: CREATED, isReplayed: false })
    assert.deepEqual(attempts, [FIRST, `${FIRST} retry`, `${FIRST} retry`])
  })

  it('continues 30 seconds after its process ended, and is refused before, after a wait of 1.6 seconds', async () => {
    const { run, deps, clock, sleeps, attempts } = newService()
    void runOnce(REQUEST, () => new Promise<StoredResult>(() => {}), deps)
    await Promise.resolve()
    clock.nowMs = START_MS + 29_999
    await assert.rejects(run(), { code: 'IdempotencyKeyInUse', retryAfterS: 1 })
    assert.deepEqual(sleeps, [25, 50, 100, 200, 400, 800])
    clock.nowMs = START_MS + 30_000
    await run()
    assert.deepEqual(attempts, [`${FIRST} retry`])
  })

  it('waits for a request that starts at the same time, and gets its result', async () => {
    const { run, attempts } = newService()
    const both = await Promise.all([run(), run()])
    assert.deepEqual(both.map(({ isReplayed }) => isReplayed).sort(), [false, true])
    assert.equal(attempts.length, 1)
  })

  it('gets the result of a later attempt when it fails after that has started', async () => {
    const { run, clock, logged, attempts } = newService()
    const first = run(async () => {
      clock.nowMs += 30_000
      await run()
      throw new Error('It broke')
    })
    assert.deepEqual(await first, { result: CREATED, isReplayed: true })
    assert.deepEqual([attempts, logged], [[FIRST, `${FIRST} retry`], ['idempotency.superseded']])
  })

  it('stores a result of 500,000 characters as JSON; with a longer one, a repeated request runs again', async () => {
    const bare = JSON.stringify({ data: '' }).length
    for (const [length, attemptCount] of [
      [500_000, 1],
      [500_001, 2],
    ] as const) {
      const { run, attempts } = newService()
      const work: Work = async () => ({ data: 'x'.repeat(length - bare) })
      await run(work)
      await run(work)
      assert.equal(attempts.length, attemptCount)
    }
  })

  it('returns its result when it cannot be stored, and logs that', async () => {
    const { run, keys, logged } = newService()
    keys.replace = async () => {
      throw new Error('The database is away')
    }
    assert.deepEqual((await run()).result, CREATED)
    assert.deepEqual(logged, ['idempotency.save-failed'])
  })

  it('returns its fault when the record cannot be changed, and logs that', async () => {
    const { run, keys, logged } = newService()
    keys.replace = async () => {
      throw new Error('The database is away')
    }
    await assert.rejects(run(fails), /It broke/)
    assert.deepEqual(logged, ['idempotency.delete-failed'])
  })
})

describe('A creation without an idempotency key', () => {
  it('has new ids, and no earlier attempt to look for', async () => {
    const creation = singleAttempt({ newId: () => 'new' })
    const look = () => assert.fail('It looks for an earlier attempt')
    assert.deepEqual([creation.newId(), await findFromEarlierAttempt(creation, look)], ['new', undefined])
  })
})

describe('A retry', () => {
  it('finds what an earlier attempt created', async () => {
    const creation = { newId: () => 'id', isRetry: true }
    assert.equal(await findFromEarlierAttempt(creation, async () => 'created'), 'created')
  })
})
