import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { SpanKind } from '@opentelemetry/api'
import { Type } from 'typebox'
import type { IdempotencyDependencies } from '../../shared/domain/idempotency/run-once.ts'
import { dispatcher } from '../../shared/http/dispatch.ts'
import { route } from '../../shared/http/route.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { inInvocation, invocationDetails } from '../../shared/kernel/tracing.ts'
import { jsonLog } from '../../shared/telemetry/json-log.ts'

const TENANT = '0f8fad5b-d9cb-469f-a165-70867728950e'
const PERSON = '7d444840-9dc0-11d1-b245-5ffdce74fad2'
const TOKEN = 'Bearer eyJhbGciOiJSUzI1NiJ9.eyJuYW1lIjoiSmFuZSBEb2UifQ.c2lnbmF0dXJl'
const HOST = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }

let nowMs = Date.parse('2030-01-01T00:00:00Z')
const lines: string[] = []
const log = jsonLog(
  'info',
  (line) => lines.push(line),
  () => nowMs,
  invocationDetails,
)
const caller: Caller = { kind: 'user', tenantId: TENANT, objectId: PERSON, clientId: PERSON, roles: new Set(['User']) }

/** Does as its body says. */
const renameThing = route('PUT', '/{id}/name', {
  operationId: 'renameThing',
  summary: '',
  roles: ['User'],
  body: Type.Object({ name: Type.String({ maxLength: 20 }) }),
  reply: { status: 200, schema: Type.Any() },
  refusals: ['CollectionNotFound'],
  run: async ({ body }) => {
    log.info('thing.renamed', { thingCount: 1 })
    nowMs += 7
    if (body.name === 'fault') throw new Error('It broke')
    if (body.name === 'upstream') throw new Refusal('GroupNotVerified', undefined, undefined, new Error('It hung up'))
    if (body.name === 'missing') throw new Refusal('CollectionNotFound')
    return { data: null }
  },
})

const dispatch = dispatcher(
  { prefix: 'things/beta', routes: [renameThing] },
  {
    authenticate: async (authorization) => {
      if (authorization !== TOKEN) throw new Refusal('TokenInvalid')
      return caller
    },
    admit: () => undefined,
    findIdentity: async () => undefined,
    log,
    newId: () => 'new-id',
    nowMs: () => nowMs,
    idempotency: { newId: () => 'made-id' } as IdempotencyDependencies,
  },
)

/** The lines that are logged during a request. */
async function logged(name: string, { path = `/${PERSON}/name`, token = TOKEN } = {}) {
  const headers: Record<string, string> = { authorization: token, 'content-type': 'application/json' }
  const request = {
    method: 'PUT',
    url: `http://localhost/things/beta${path}`,
    header: (header: string) => headers[header] ?? null,
    bytes: async () => new TextEncoder().encode(JSON.stringify({ name })),
  }
  await inInvocation({ name: 'PUT', kind: SpanKind.SERVER, host: HOST, nowMs }, () => dispatch(request))
  return lines.map((line) => JSON.parse(line))
}

const ASKED = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  requestId: 'new-id',
  operationId: 'renameThing',
  route: '/things/beta/{id}/name',
  method: 'PUT',
}
const CALLED = { ...ASKED, tenantId: TENANT, callerId: PERSON }

const without = ({ at, level, error, ...rest }: Record<string, unknown>) => rest

describe('The log of a request', () => {
  beforeEach(() => {
    lines.length = 0
  })

  for (const [name, status, fault] of [
    ['Jane Doe', 200, undefined],
    ['missing', 404, undefined],
    ['upstream', 502, 'http.upstream'],
    ['fault', 500, 'http.fault'],
  ] as const) {
    it(`has the caller, the operation and the status ${status}`, async () => {
      const outcome = { ...CALLED, status, durationMs: 7 }
      const renamed = { ...CALLED, event: 'thing.renamed', thingCount: 1 }
      const events = [
        renamed,
        ...(fault === undefined ? [] : [{ ...outcome, event: fault }]),
        { ...outcome, event: 'http.completed' },
      ]
      assert.deepEqual((await logged(name)).map(without), events)
    })
  }

  it('has the operation of a request without a valid token', async () => {
    const [line, ...others] = (await logged('Jane Doe', { token: 'Bearer of something else' })).map(without)
    assert.deepEqual(line, { ...ASKED, event: 'http.completed', status: 401, durationMs: 0 })
    assert.deepEqual(others, [])
  })

  it('does not contain an unknown path', async () => {
    const [line] = (await logged('Jane Doe', { path: '/Jane%20Doe' })).map(without)
    const { operationId, route: _route, ...asked } = ASKED
    assert.deepEqual(line, { ...asked, operationId: 'none', event: 'http.completed', status: 404, durationMs: 0 })
  })

  it('contains no token, no body and no text of the caller', async () => {
    for (const name of ['Jane Doe', 'a name that is by far too long']) await logged(name)
    await logged('Jane Doe', { token: `${TOKEN}x` })
    await logged('Jane Doe', { path: '/Jane%20Doe' })
    assert.ok(lines.length > 4)
    assert.doesNotMatch(lines.join(), /eyJ|Jane|too long/)
  })
})
