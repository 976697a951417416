import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { Type } from 'typebox'
import { route } from '../../shared/http/route.ts'
import { withSecondDecision } from '../../shared/http/second-decision.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { Refusal, type RefusalCode } from '../../shared/kernel/refusals.ts'
import { dispatched } from './dispatched.ts'

const caller: Caller = {
  kind: 'user',
  tenantId: '11111111-0000-4000-8000-000000000001',
  objectId: '22222222-0000-4000-8000-000000000001',
  clientId: undefined,
  roles: new Set(['User']),
}

/** What the route does, one after the other; the last one again and again. */
let steps: (RefusalCode | 'done')[] = []
let events: string[] = []
let identities: (string | undefined)[] = []

function run(): { data: string } {
  const step = steps.length > 1 ? steps.shift() : steps[0]
  events.push(step ?? 'done')
  if (step === 'TooManyRequests') throw Refusal.retryAfter(step, 1)
  if (step !== undefined && step !== 'done') throw new Refusal(step)
  return { data: 'done' }
}

const shared = { summary: '', roles: 'any' as const, reply: { status: 200 as const, schema: Type.Any() } }
const ofPerson = { identity: { exempt: [] } }
const send = dispatched(
  [
    route('POST', '/written', { ...shared, operationId: 'writeThing', run: async () => run() }),
    route('GET', '/read', { ...shared, operationId: 'readThing', run: async () => run() }),
    route('POST', '/own', { ...shared, ...ofPerson, operationId: 'writeOwnThing', run: async () => run() }),
    route('GET', '/own', { ...shared, ...ofPerson, operationId: 'readOwnThing', run: async () => run() }),
  ],
  { caller },
  {
    catchUp: async (tenantId) => void events.push(`catch up ${tenantId}`),
    findIdentity: async () => identities.shift(),
  },
)

const CAUGHT_UP = `catch up ${caller.tenantId}`

describe('A request that is refused', () => {
  beforeEach(() => {
    events = []
  })

  const write = async (...all: (RefusalCode | 'done')[]) => {
    steps = all
    const { json } = await send({ method: 'POST', path: '/written' })
    return json.data ?? json.errors[0].code
  }

  for (const code of ['CollectionUnknown', 'GroupAlreadyLinked', 'PreconditionFailed', 'LinkNotFound'] as const) {
    it(`is decided again with the writes of all instances: a write with ${code}`, async () => {
      assert.equal(await write(code, 'done'), 'done')
      assert.deepEqual(events, [code, CAUGHT_UP, 'done'])
    })
  }

  it('gets the second refusal, and no third decision', async () => {
    assert.equal(await write('LinkNotFound', 'LinkDisabled'), 'LinkDisabled')
    assert.deepEqual(events, ['LinkNotFound', CAUGHT_UP, 'LinkDisabled'])
  })

  for (const code of ['TooManyRequests', 'GroupNotVerified'] as const) {
    it(`is not decided again when data cannot change the answer: ${code}`, async () => {
      assert.equal(await write(code, 'done'), code)
      assert.deepEqual(events, [code])
    })
  }

  it('is not decided again when it only reads', async () => {
    steps = ['LinkNotFound', 'done']
    assert.equal((await send({ path: '/read' })).status, 404)
    assert.deepEqual(events, ['LinkNotFound'])
  })

  for (const method of ['POST', 'GET']) {
    it(`is decided again before it runs, when its caller has no identity: ${method}`, async () => {
      steps = ['done']
      identities = [undefined, '33333333-0000-4000-8000-000000000001']
      assert.equal((await send({ method, path: '/own' })).status, 200)
      assert.deepEqual(events, [CAUGHT_UP, 'done'])
      identities = [undefined, undefined]
      assert.equal((await send({ method, path: '/own' })).json.errors[0].code, 'CallerHasNoIdentity')
    })
  }

  it('is not decided again after a fault', async () => {
    steps = ['no such refusal' as RefusalCode]
    assert.equal((await send({ method: 'POST', path: '/written' })).status, 500)
    assert.equal(events.length, 1)
  })
})

it('A fault is no decision, whatever it is called', async () => {
  const fault = Object.assign(new Error('The directory is away'), { kind: 'missing' })
  const tries: string[] = []
  const decided = withSecondDecision(
    caller.tenantId,
    { catchUp: async () => void tries.push('catch up') },
    async () => {
      tries.push('decide')
      throw fault
    },
  )
  await assert.rejects(decided, fault)
  assert.deepEqual(tries, ['decide'])
})
