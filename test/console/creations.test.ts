import assert from 'node:assert/strict'
import { beforeEach, describe, it, mock } from 'node:test'
import { ApiRefusal, ApiUnreachable, apiOf } from '../../functions/console/api.ts'

const PATH = '/collections-joinable/beta'
const BODY = { name: 'Once only' }

const api = () => apiOf({ username: 'ada@nordvag.example', accessToken: async () => 'token' })

describe('A record that the console creates', () => {
  let keys: (string | null)[] = []
  let answers: (() => Response)[] = []
  beforeEach(() => {
    keys = []
    mock.method(globalThis, 'fetch', async (_: string, { headers }: RequestInit) => {
      keys.push(new Headers(headers).get('idempotency-key'))
      return answers.shift()?.()
    })
  })

  const lost = (): never => {
    throw new TypeError('fetch failed')
  }
  const refused = (status: number, code: string) => () =>
    Response.json({ data: null, errors: [{ code, message: code }] }, { status })
  const created = () => Response.json({ data: 'id', errors: [] }, { status: 201 })

  for (const [claim, first, isSame] of [
    ['has the same key again after its answer was lost', lost, true],
    ['has the same key again after a fault of the service', refused(503, 'Unavailable'), true],
    ['has the same key again while the first attempt is under way', refused(409, 'IdempotencyKeyInUse'), true],
    ['has another key after a refusal', refused(400, 'InvalidValue'), false],
  ] as const) {
    it(claim, async () => {
      answers = [first, created]
      const called = api()
      await assert.rejects(called.create(PATH, BODY), (error) => {
        return error instanceof ApiUnreachable || error instanceof ApiRefusal
      })
      assert.equal(await called.create(PATH, BODY), 'id')
      assert.match(keys[0] ?? '', /^[\da-f-]{36}$/)
      assert.equal(keys[0] === keys[1], isSame)
    })
  }

  it('has another key than an equal one that was created before', async () => {
    answers = [created, created]
    const called = api()
    await called.create(PATH, BODY)
    await called.create(PATH, BODY)
    assert.notEqual(keys[0], keys[1])
  })

  it('has another key with another content', async () => {
    answers = [lost, created]
    const called = api()
    await assert.rejects(called.create(PATH, BODY), ApiUnreachable)
    await called.create(PATH, { name: 'Another one' })
    assert.notEqual(keys[0], keys[1])
  })
})
