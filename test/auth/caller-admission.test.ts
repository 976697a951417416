import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type AdmissionSettings, callerAdmission } from '../../shared/auth/caller-admission.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'

const TENANT = '11111111-0000-4000-8000-000000000001'
const OTHER_TENANT = '22222222-0000-4000-8000-000000000002'

const caller = (tenantId: string, objectId = 'someone'): Caller => ({
  kind: 'user',
  tenantId,
  objectId,
  clientId: undefined,
  roles: new Set(),
})

function admission(settings: Partial<AdmissionSettings>) {
  let elapsedMs = 1_000
  const admit = callerAdmission(
    { tenants: 'any', requestsPerCallerPerMinute: 0, requestsPerTenantPerMinute: 0, ...settings },
    () => elapsedMs,
  )
  return {
    pass: (delayMs: number) => {
      elapsedMs += delayMs
    },
    /** The outcome of a request: a refusal with the seconds to wait. */
    send(by: Caller = caller(TENANT)): string {
      try {
        admit(by)
        return 'admitted'
      } catch (error) {
        assert.ok(error instanceof Refusal, String(error))
        return `${error.code} ${error.retryAfterS ?? ''}`.trim()
      }
    },
  }
}

describe('the requests of a tenant', () => {
  it('are limited however many callers share them; a refused one uses up nothing, and no other tenant is refused', () => {
    const { send, pass } = admission({ requestsPerCallerPerMinute: 10, requestsPerTenantPerMinute: 60 })
    const outcomes = Array.from({ length: 200 }, (_, index) => send(caller(TENANT, `caller ${index % 20}`)))
    assert.equal(outcomes.filter((outcome) => outcome === 'admitted').length, 60)
    assert.equal(outcomes.at(-1), 'TooManyRequests 1')
    assert.equal(send(caller(OTHER_TENANT)), 'admitted')
    pass(1_000)
    assert.deepEqual([send(caller(TENANT, 'new')), send(caller(TENANT, 'new'))], ['admitted', 'TooManyRequests 1'])
  })

  it('use up nothing of the limit of a caller when they are refused', () => {
    const { send, pass } = admission({ requestsPerCallerPerMinute: 1, requestsPerTenantPerMinute: 2 })
    assert.deepEqual([send(caller(TENANT, 'a')), send(caller(TENANT, 'b'))], ['admitted', 'admitted'])
    assert.equal(send(caller(TENANT, 'c')), 'TooManyRequests 30')
    pass(30_000)
    assert.equal(send(caller(TENANT, 'c')), 'admitted')
  })

  it('are unlimited at 0', () => {
    const { send } = admission({ requestsPerTenantPerMinute: 0 })
    for (let count = 0; count < 1_000; count += 1) assert.equal(send(), 'admitted')
  })
})

describe('the tenants of the settings', () => {
  it('are admitted, and no others', () => {
    const { send } = admission({ tenants: new Set([TENANT]) })
    assert.deepEqual([send(), send(caller(OTHER_TENANT))], ['admitted', 'TenantNotAllowed'])
  })

  it('are all tenants by default', () => {
    const { send } = admission({})
    assert.deepEqual([send(), send(caller(OTHER_TENANT))], ['admitted', 'admitted'])
  })
})

describe('the limit of requests', () => {
  it('is reached after that number of requests within a minute, and returns when the next request is admitted', () => {
    const { send, pass } = admission({ requestsPerCallerPerMinute: 3 })
    assert.deepEqual([send(), send(), send(), send()], ['admitted', 'admitted', 'admitted', 'TooManyRequests 20'])
    pass(18_500)
    assert.equal(send(), 'TooManyRequests 2')
    pass(1_500)
    assert.deepEqual([send(), send()], ['admitted', 'TooManyRequests 20'])
  })

  it('is that of a caller in a tenant: others are not affected', () => {
    const { send } = admission({ requestsPerCallerPerMinute: 1 })
    assert.deepEqual([send(), send()], ['admitted', 'TooManyRequests 60'])
    assert.equal(send(caller(TENANT, 'another')), 'admitted')
    assert.equal(send(caller(OTHER_TENANT)), 'admitted')
  })

  it('does not grow while a caller sends nothing', () => {
    const { send, pass } = admission({ requestsPerCallerPerMinute: 2 })
    send()
    pass(3_600_000)
    assert.deepEqual([send(), send(), send()], ['admitted', 'admitted', 'TooManyRequests 30'])
  })

  it('does not exist when the setting is 0', () => {
    const { send } = admission({ requestsPerCallerPerMinute: 0 })
    for (let count = 0; count < 10_000; count += 1) assert.equal(send(), 'admitted')
  })

  it('is kept for 10,000 callers, and many callers with one request do not evict a busy caller', () => {
    const { send } = admission({ requestsPerCallerPerMinute: 1 })
    for (let other = 0; other < 30_000; other += 1) {
      if (other % 1_000 === 0) assert.equal(send(), other === 0 ? 'admitted' : 'TooManyRequests 60')
      send(caller(OTHER_TENANT, `${other}`))
    }
  })

  it('admits at most the requests of a minute plus the refill, and always one after Retry-After', () => {
    const step = fc.record({ delayMs: fc.integer({ min: 0, max: 5_000 }), waits: fc.boolean() })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.array(step, { maxLength: 300 }), (limit, steps) => {
        const { send, pass } = admission({ requestsPerCallerPerMinute: limit })
        let admittedCount = 0
        let passedMs = 0
        const later = (delayMs: number) => {
          pass(delayMs)
          passedMs += delayMs
        }
        for (const { delayMs, waits } of steps) {
          later(delayMs)
          const outcome = send()
          if (outcome === 'admitted') admittedCount += 1
          else if (waits) {
            later(Number(outcome.split(' ')[1]) * 1_000)
            assert.equal(send(), 'admitted')
            admittedCount += 1
          }
        }
        assert.ok(admittedCount <= limit + (passedMs * limit) / 60_000 + 1e-6)
      }),
    )
  })
})
