import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Type } from 'typebox'
import { route } from '../../shared/http/route.ts'
import type { Caller, Role } from '../../shared/kernel/caller.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import { dispatched, type Sent } from '../support/http/dispatched.ts'

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e'
const IDENTITY = '7d444840-9dc0-11d1-b245-5ffdce74fad2'
const READER: Role = 'collections-criteria.criteria.read.all'

const routes = [
  route('GET', '/{id}', {
    operationId: 'readThing',
    summary: '',
    roles: [READER],
    query: Type.Object({
      pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 5000 })),
      tags: Type.Optional(Type.Array(Type.String())),
    }),
    reply: { status: 200, schema: Type.Any() },
    refusals: ['CollectionNotFound'],
    run: async ({ path, query, ifMatch }) => {
      if (path.id === ID.replace('0', '1')) throw new Refusal('CollectionNotFound')
      if (path.id === ID.replace('0', '2')) throw new Error('secret inside')
      if (path.id === ID.replace('0', '3')) {
        throw new Refusal('GroupNotVerified', undefined, undefined, new Error('the directory hung up'))
      }
      return { data: { path, query, ifMatch: ifMatch ?? null } }
    },
  }),
  route('GET', '/{id}/parts/{part}', {
    operationId: 'readPart',
    summary: '',
    parameters: { part: Type.String({ enum: ['1', '2'] }) },
    roles: [READER],
    query: Type.Object({ colour: Type.String() }),
    reply: { status: 200, schema: Type.Any() },
    run: async ({ path }) => ({ data: path }),
  }),
  route('POST', '/', {
    operationId: 'writeThing',
    summary: '',
    roles: ['Administrator'],
    body: Type.Object({
      name: Type.String({ maxLength: 5 }),
      owner: Guid,
      note: Type.Optional(Type.String()),
      notes: Type.Optional(Type.String()),
      colour: Type.Optional(Type.String({ enum: ['red', 'blue'] })),
    }),
    bodyLimitBytes: 1000,
    reply: { status: 201, schema: Type.Any() },
    run: async ({ body }) => ({ data: body, headers: { location: '/things/1' } }),
  }),
  route('POST', '/{id}/claim', {
    operationId: 'claimThing',
    summary: '',
    query: Type.Object({ colour: Type.Optional(Type.String({ enum: ['red', 'blue'] })) }),
    roles: ['User', 'Administrator'],
    identity: { exempt: ['Administrator', READER] },
    body: Type.Object({}),
    reply: { status: 200, schema: Type.Any() },
    run: async ({ identityId }) => ({ data: identityId ?? null }),
  }),
  route('GET', '/{id}/own', {
    operationId: 'readOwnThing',
    summary: '',
    roles: ['User', READER],
    identity: { exempt: [READER] },
    reply: { status: 200, schema: Type.Any() },
    run: async ({ identityId }) => ({ data: identityId ?? null }),
  }),
]

const caller = (kind: Caller['kind'], ...roles: Role[]): Caller => ({
  kind,
  tenantId: ID,
  objectId: ID,
  clientId: ID,
  roles: new Set(roles),
})
const CALLERS: Record<string, Caller> = {
  reader: caller('application', READER),
  admin: caller('user', 'Administrator'),
  nobody: caller('user'),
  person: { ...caller('user', 'User'), objectId: IDENTITY },
  personAndAdmin: { ...caller('user', 'User', 'Administrator'), objectId: IDENTITY },
  stranger: caller('user', 'User'),
  // An application's object id can equal the account of a person.
  namesake: { ...caller('application', READER), objectId: IDENTITY },
}

const faults: unknown[] = []
const sendTo = dispatched(routes, CALLERS, {
  findIdentity: async ({ objectId }) => (objectId === ID ? undefined : IDENTITY),
  log: { info: () => undefined, warn: () => undefined, error: (_event, error) => void faults.push(error) },
})
const send = (sent: Sent) => sendTo({ path: `/${ID}`, ...sent })

const post = (body: string | Uint8Array, contentType = 'application/json') =>
  send({ method: 'POST', path: '', as: 'admin', headers: { 'content-type': contentType }, body })

describe('dispatch', () => {
  it('wraps the result of a route in an envelope', async () => {
    const { status, json, headers } = await send({ path: `/${ID.toUpperCase()}?pageSize=20&tags=a&tags=b&unknown=1` })
    assert.equal(status, 200)
    assert.deepEqual(json, {
      data: { path: { id: ID }, query: { pageSize: 20, tags: ['a', 'b'] }, ifMatch: null },
      isSuccess: true,
      statusCode: 200,
      errors: [],
    })
    assert.equal(headers['x-request-id'], 'made-id')
  })

  it('forbids caching a response and guessing its type, whatever the outcome', async () => {
    for (const request of [{}, { method: 'HEAD' }, { path: '/nothing/here' }, { as: '' }, { as: 'nobody' }]) {
      const { status, headers } = await send(request)
      assert.equal(headers['x-content-type-options'], 'nosniff', `${status}`)
      assert.equal(headers['cache-control'], 'no-store', `${status}`)
    }
  })

  it('refuses an unknown path before authentication, and another method with Allow', async () => {
    assert.equal((await send({ path: '/a/b/c', as: '' })).status, 404)
    const { status, headers, json } = await send({ method: 'DELETE', as: '' })
    assert.equal(status, 405)
    assert.equal(headers.allow, 'GET, HEAD')
    assert.equal(json.errors[0].code, 'MethodNotAllowed')
  })

  it('checks the token before the role, and the role before the input', async () => {
    const missing = await send({ path: '/no-guid', as: '' })
    assert.equal(missing.status, 401)
    assert.equal(missing.headers['www-authenticate'], 'Bearer')
    assert.equal((await send({ path: '/no-guid', as: 'nobody' })).status, 403)
    assert.equal((await send({ path: '/no-guid' })).json.errors[0].code, 'InvalidId')
  })

  it('refuses an application with UsersOnly where no application role is accepted', async () => {
    const { status, json } = await send({ method: 'POST', path: '', as: 'reader', body: '{}' })
    assert.deepEqual([status, json.errors[0].code], [403, 'UsersOnly'])
  })

  it('returns the details of a refusal and hides those of a fault', async () => {
    const refused = await send({ path: `/${ID.replace('0', '1')}` })
    assert.deepEqual([refused.status, refused.json.errors[0].code], [404, 'CollectionNotFound'])
    assert.equal(refused.json.error, refused.json.errors[0].message)
    const faulty = await send({ path: `/${ID.replace('0', '2')}` })
    assert.equal(faulty.status, 500)
    assert.ok(!String(faulty.body).includes('secret'))
    assert.match(String(faults.at(-1)), /secret inside/)
  })

  it('reports an upstream failure without the cause, and logs the cause', async () => {
    const { status, body } = await send({ path: `/${ID.replace('0', '3')}` })
    assert.deepEqual([status, String(body).includes('hung up')], [502, false])
    assert.match(String((faults.at(-1) as Error).cause), /hung up/)
  })

  it('accepts a valid request id and replaces any other', async () => {
    assert.equal((await send({ headers: { 'x-request-id': 'a.B-1_' } })).headers['x-request-id'], 'a.B-1_')
    assert.equal((await send({ headers: { 'x-request-id': 'a b' } })).headers['x-request-id'], 'made-id')
    assert.equal((await send({ headers: { 'x-request-id': 'x'.repeat(129) } })).headers['x-request-id'], 'made-id')
  })

  for (const [claim, query, target] of [
    ['a number that is none', 'pageSize=ten', 'pageSize'],
    ['a number out of range', 'pageSize=0', 'pageSize'],
    ['a repeated parameter', 'pageSize=1&pageSize=2', 'pageSize'],
    ['a repeated required parameter', 'colour=red&colour=blue', 'colour'],
  ] as const) {
    it(`refuses ${claim}, and names the parameter once`, async () => {
      const { status, json } = await send({ path: `/${ID}${target === 'colour' ? '/parts/1' : ''}?${query}` })
      assert.deepEqual([status, json.errors.map((entry: { target: string }) => entry.target)], [400, [target]])
    })
  }

  it('reports all errors of a path together, by parameter name', async () => {
    const { status, json } = await send({ path: '/x/parts/7?colour=red' })
    const errors = json.errors.map((entry: Record<string, string>) => [entry.target, entry.code, entry.message])
    assert.deepEqual(
      [status, errors],
      [
        400,
        [
          ['id', 'InvalidId', 'x is not a GUID'],
          ['part', 'InvalidValue', 'part must be one of 1, 2, not "7"'],
        ],
      ],
    )
  })

  it('reports all errors of the path, the query and the form of the body together', async () => {
    const headers = { 'content-type': 'application/json' }
    const claim = (body: string) => send({ method: 'POST', path: '/x/claim?colour=7', as: 'admin', headers, body })
    const found = async (body: string) =>
      (await claim(body)).json.errors.map(({ target }: { target?: string }) => target)
    assert.deepEqual(await found('[]'), ['id', 'colour', ''])
    assert.deepEqual(await found('{}'), ['id', 'colour'])
    const unreadable = await claim('{')
    assert.deepEqual([unreadable.json.errors.length, unreadable.json.errors[0].code], [1, 'InvalidJson'])
  })

  it('converts GUIDs in a body to lower case and drops unknown members', async () => {
    const { status, json, headers } = await post(JSON.stringify({ name: 'a', owner: ID.toUpperCase(), id: 7 }))
    assert.deepEqual([status, json.data, headers.location], [201, { name: 'a', owner: ID }, '/things/1'])
  })

  it('reports all errors of a body together, each with its pointer', async () => {
    const { status, json } = await post(JSON.stringify({ name: 'too long', owner: 'x', note: 1, colour: 7 }))
    assert.equal(status, 400)
    assert.deepEqual(json.errors.map(({ code, target }: { code: string; target: string }) => [code, target]).sort(), [
      ['InvalidId', '/owner'],
      ['InvalidLength', '/name'],
      ['InvalidType', '/colour'],
      ['InvalidType', '/note'],
    ])
  })

  it('states the requirement and the value in each message', async () => {
    const { json } = await post(JSON.stringify({ name: 'too long', owner: 'x', note: 1 }))
    assert.deepEqual(json.errors.map(({ message }: { message: string }) => message).sort(), [
      'name must have at most 5 characters, not "too long"',
      'note must be of type string, not 1',
      'owner must be a GUID, not "x"',
    ])
  })

  const nested = (levels: number) =>
    `{"name":"a","owner":"${ID}","x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  for (const [claim, body, contentType, status, code] of [
    ['no body', '', 'application/json', 400, 'BodyRequired'],
    ['a body that is not JSON', '{"a":', 'application/json', 400, 'InvalidJson'],
    ['a body that is not UTF-8', new Uint8Array([0x22, 0xff, 0x22]), 'application/json', 400, 'InvalidJson'],
    ['an unpaired surrogate', '{"name":"\\uD83D"}', 'application/json', 400, 'InvalidJson'],
    ['an unpaired surrogate in a name', '{"name":"x","\\udc00":1}', 'application/json', 400, 'InvalidJson'],
    ['a list where an object is required', '[]', 'application/json', 400, 'InvalidType'],
    ['null', 'null', 'application/json', 400, 'InvalidType'],
    ['another content type', '{}', 'text/plain', 415, 'UnsupportedMediaType'],
    ['no content type', '{}', '', 415, 'UnsupportedMediaType'],
    ['another charset', '{}', 'application/json; charset=iso-8859-1', 415, 'UnsupportedMediaType'],
    ['a null character', `{"name":"a\\u0000","owner":"${ID}"}`, 'application/json', 400, 'InvalidValue'],
    ['a C1 control', `{"name":"\u0085","owner":"${ID}"}`, 'application/json', 400, 'InvalidValue'],
    ['a line feed in a name', `{"name":"a\\nb","owner":"${ID}"}`, 'application/json', 400, 'InvalidValue'],
    [
      'an escape in a note',
      `{"name":"a","owner":"${ID}","notes":"\\u001b[31m"}`,
      'application/json',
      400,
      'InvalidValue',
    ],
    ['too many bytes', `{"name":"${'a'.repeat(1000)}"}`, 'application/json', 413, 'BodyTooLarge'],
    ['65 levels', nested(65), 'application/json', 400, 'BodyTooDeep'],
    ['a prototype member', '{"__proto__":{"name":"a"},"owner":"x"}', 'application/json', 400, 'MissingMember'],
  ] as const) {
    it(`refuses ${claim}`, async () => {
      const answer = await post(body, contentType)
      assert.equal(answer.status, status)
      assert.ok(
        answer.json.errors.some((error: { code: string }) => error.code === code),
        String(answer.body),
      )
    })
  }

  it('tells a client that sends a chunked body, which the host does not read, to state its length', async () => {
    const headers = { 'content-type': 'application/json', 'transfer-encoding': 'chunked' }
    const { status, json } = await send({ method: 'POST', path: '/', as: 'admin', headers, body: '' })
    assert.deepEqual([status, json.errors[0].code], [411, 'LengthRequired'])
  })

  it('refuses a content encoding, and accepts identity', async () => {
    for (const [encoding, status] of [
      ['gzip', 415],
      ['identity, br', 415],
      ['Identity', 201],
    ] as const) {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
      const body = `{"name":"a","owner":"${ID}"}`
      assert.equal((await send({ method: 'POST', path: '/', as: 'admin', headers, body })).status, status)
    }
  })

  it('accepts line feeds and tabs in notes', async () => {
    assert.equal((await post(`{"name":"a","owner":"${ID}","notes":"one\\n\\ttwo"}`)).status, 201)
  })

  it('accepts 64 levels, a content type with a parameter, and a surrogate pair', async () => {
    assert.equal((await post(nested(64), 'application/json; charset=utf-8')).status, 201)
    assert.equal((await post(`{"name":"\\uD83D\\uDE00","owner":"${ID}"}`)).status, 201)
  })

  it('checks the core identity with the role, before the input, except for exempt roles', async () => {
    const claim = (as: string, path = `/${ID}/claim`) =>
      send({ method: 'POST', path, as, headers: { 'content-type': 'application/json' }, body: '{}' })
    assert.equal((await claim('person')).json.data, IDENTITY)
    assert.equal((await claim('personAndAdmin')).json.data, IDENTITY)
    assert.equal((await claim('admin')).json.data, null)
    const stranger = await claim('stranger', '/no-guid/claim')
    assert.equal(stranger.status, 403)
    assert.equal(stranger.json.errors[0].code, 'CallerHasNoIdentity')
    const application = await claim('reader')
    assert.equal(application.status, 403)
    assert.equal(application.json.errors[0].code, 'UsersOnly')
    assert.equal((await claim('nobody')).json.errors[0].code, 'RoleRequired')
  })

  it('gives no core identity to an application whose object id is the account of a person', async () => {
    const own = (as: string) => send({ path: `/${ID}/own`, as })
    assert.deepEqual([(await own('person')).json.data, (await own('namesake')).json.data], [IDENTITY, null])
  })
})
