import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  livenessResponder,
  type Part,
  type PartCheck,
  readinessCheck,
  readinessResponder,
} from '../../shared/http/probes.ts'

const well: PartCheck = async () => undefined
const ill: PartCheck = async () => {
  throw new Error('refused by secret-host.internal')
}
const silent: PartCheck = () => new Promise(() => undefined)

/** A probe over checks that can be changed, with a clock that stands, and what it has logged. */
function fixture(checks: Partial<Record<Part, PartCheck>> = {}) {
  const now = { ms: 0 }
  const events: string[] = []
  const asked: Part[] = []
  const all: Record<Part, PartCheck> = { database: well, queue: well, directoryKeys: well, ...checks }
  const counted = (part: Part): PartCheck => {
    return (signal) => {
      asked.push(part)
      return all[part](signal)
    }
  }
  const probe = readinessCheck({
    checks: { database: counted('database'), queue: counted('queue'), directoryKeys: counted('directoryKeys') },
    log: {
      info: (event, details) => void events.push(`${event} ${details?.part}`),
      warn: () => undefined,
      error: (event, _error, details) => void events.push(`${event} ${details?.part}`),
    },
    nowMs: () => now.ms,
    checkLimitMs: 50,
  })
  return { probe, all, now, events, asked, respond: readinessResponder(probe, () => 'new-id') }
}

const request = (method: string) => ({
  method,
  url: '/ready',
  header: () => null,
  bytes: async () => new Uint8Array(),
})

describe('readiness', () => {
  it('names every part when all are available', async () => {
    const { status, headers, body } = await fixture().respond(request('GET'))
    assert.equal(status, 200)
    assert.deepEqual(JSON.parse(String(body ?? '')), {
      data: { database: 'ready', queue: 'ready', directoryKeys: 'ready' },
      isSuccess: true,
      statusCode: 200,
      errors: [],
    })
    assert.equal(headers['x-request-id'], 'new-id')
    assert.equal(headers['cache-control'], 'no-store')
  })

  it('names the unavailable parts in an envelope, without the cause', async () => {
    const { status, body } = await fixture({ database: ill, directoryKeys: silent }).respond(request('GET'))
    assert.equal(status, 503)
    const { data, isSuccess, errors, error } = JSON.parse(String(body ?? ''))
    assert.deepEqual([data, isSuccess], [null, false])
    assert.deepEqual(
      errors.map(({ code, target }: { code: string; target: string }) => [code, target]),
      [
        ['NotReady', 'database'],
        ['NotReady', 'directoryKeys'],
      ],
    )
    assert.equal(error, errors[0].message)
    assert.doesNotMatch(String(body), /secret-host|No response within/)
  })

  it('limits the time of a check, and aborts it', async () => {
    const signals: AbortSignal[] = []
    const endless: PartCheck = (signal) => {
      signals.push(signal)
      return silent(signal)
    }
    const beforeMs = performance.now()
    assert.deepEqual(await fixture({ queue: endless }).probe(), ['queue'])
    assert.ok(performance.now() - beforeMs < 1_000)
    assert.equal(signals[0]?.aborted, true)
  })

  it('checks all parts concurrently', async () => {
    let waitingCount = 0
    const { promise: allWait, resolve } = Promise.withResolvers<void>()
    const waiting: PartCheck = () => {
      waitingCount += 1
      if (waitingCount === 3) resolve()
      return allWait
    }
    assert.deepEqual(await fixture({ database: waiting, queue: waiting, directoryKeys: waiting }).probe(), [])
  })

  it('shares one check among concurrent calls, and repeats it after five seconds', async () => {
    const { probe, now, asked } = fixture()
    await Promise.all(Array.from({ length: 100 }, () => probe()))
    now.ms = 4_999
    await probe()
    assert.deepEqual(asked, ['database', 'queue', 'directoryKeys'])
    now.ms = 5_000
    await probe()
    assert.equal(asked.length, 6)
  })

  it('logs when a part fails and when it recovers, not each check', async () => {
    const { probe, all, now, events } = fixture({ queue: ill })
    for (const ms of [0, 10_000, 20_000]) {
      now.ms = ms
      assert.deepEqual(await probe(), ['queue'])
    }
    all.queue = well
    now.ms = 30_000
    assert.deepEqual(await probe(), [])
    assert.deepEqual(events, ['readiness.failed queue', 'readiness.restored queue'])
  })
})

describe('both probes', () => {
  const responders = { live: livenessResponder(() => 'new-id'), ready: fixture().respond }

  for (const [name, respond] of Object.entries(responders)) {
    it(`support GET and HEAD only, HEAD without content: ${name}`, async () => {
      const head = await respond(request('HEAD'))
      assert.deepEqual([head.status, head.body], [200, undefined])
      const post = await respond(request('POST'))
      assert.deepEqual([post.status, post.headers.allow], [405, 'GET, HEAD'])
      assert.equal(JSON.parse(String(post.body ?? '')).errors[0].code, 'MethodNotAllowed')
    })
  }
})
