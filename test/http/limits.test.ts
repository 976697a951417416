import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { openWholeService, type WireRequest } from '../support/fuzz/whole-service.ts'

const COLLECTIONS = '/collections-joinable/beta'
const service = await openWholeService()
after(() => service.close())

async function send(request: WireRequest) {
  const { status, headers, body } = await service.send(request)
  return { status, headers, body, json: JSON.parse(String(body ?? 'null')) }
}
const create = (body: string) => send({ method: 'POST', path: COLLECTIONS, body })
const collection = (members: string) =>
  `{"objectType":"Identity","name":"Choir","joinPolicy":{"approvalRequired":false}${members}}`

/** CPU time of the thread, including the database. Elapsed time would include the load of the machine. */
function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

describe('members of a body', () => {
  it('have the last value when they are repeated', async () => {
    const { json } = await create(collection(',"name":"First","name":"Last"'))
    assert.equal((await send({ method: 'GET', path: `${COLLECTIONS}/${json.data}` })).json.data.name, 'Last')
  })

  it('can have the names of prototype members', async () => {
    const attributes = '{"__proto__":"a","constructor":"b","toString":"c"}'
    const more = `,"metadata":{"attributes":${attributes}},"__proto__":{"description":"x"},"constructor":{"prototype":{}}`
    const { status, json } = await create(collection(more))
    assert.equal(status, 201)
    const { data } = (await send({ method: 'GET', path: `${COLLECTIONS}/${json.data}` })).json
    assert.equal(data.description, null)
    assert.deepEqual(Object.entries(data.metadata.attributes).sort(), [
      ['__proto__', 'a'],
      ['constructor', 'b'],
      ['tostring', 'c'],
    ])
    const found = await send({ method: 'GET', path: `${COLLECTIONS}/search?attributes=__proto__:a` })
    assert.deepEqual(
      found.json.data.map(({ id }: { id: string }) => id),
      [json.data],
    )
    assert.equal(Object.hasOwn(Object.prototype, 'description'), false)
  })

  it('do not satisfy a required member through the prototype', async () => {
    const { status, json } = await create('{"__proto__":{"objectType":"Identity","name":"a","joinPolicy":{}}}')
    assert.deepEqual([status, json.errors.length], [400, 3])
  })
})

describe('a query', () => {
  it('can be long and have unknown parameters without much work', async () => {
    const noise = Array.from({ length: 5_000 }, (_, index) => `p${index}=${index}`).join('&')
    const startMs = workedMs()
    assert.equal((await send({ method: 'GET', path: `/collections/beta?${noise}` })).status, 200)
    const many = Array.from({ length: 5_000 }, (_, index) => `tags=t${index}`).join('&')
    assert.ok([200, 400].includes((await send({ method: 'GET', path: `/collections/beta/search?${many}` })).status))
    assert.ok(workedMs() - startMs < 700)
  })

  it('can have the names of prototype members', async () => {
    const query = '__proto__=x&constructor=y&toString=z&objectType=Identity'
    assert.equal((await send({ method: 'GET', path: `/collections/beta?${query}` })).status, 200)
  })
})

describe('methods', () => {
  it('HEAD has the status and headers of GET and no body', async () => {
    for (const path of [COLLECTIONS, `${COLLECTIONS}/x`, `${COLLECTIONS}/${service.ids[0]}`]) {
      const { status, headers } = await send({ method: 'GET', path, headers: { 'x-request-id': 'same' } })
      const head = await send({ method: 'HEAD', path, headers: { 'x-request-id': 'same' } })
      assert.deepEqual([head.status, head.headers, head.body], [status, headers, undefined])
    }
  })

  for (const method of ['OPTIONS', 'TRACE', 'CONNECT', 'PROPFIND', 'get', '__proto__']) {
    it(`${method} is refused with the allowed methods`, async () => {
      const { status, headers, json } = await send({ method, path: COLLECTIONS })
      assert.deepEqual([status, headers.allow, json.errors[0].code], [405, 'GET, HEAD, POST', 'MethodNotAllowed'])
    })
  }
})

describe('If-None-Match', () => {
  it('returns 304 for the current version, and the record for any other', async () => {
    const { json } = await create(collection(''))
    const path = `${COLLECTIONS}/${json.data}`
    const { headers } = await send({ method: 'GET', path })
    const etag = headers.etag ?? ''
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await send({ method: 'GET', path, headers: { 'if-none-match': known } })
      assert.deepEqual([response.status, response.body, response.headers.etag], [304, undefined, etag], known)
    }
    for (const other of ['"other"', '', 'x'.repeat(5_000)]) {
      assert.equal((await send({ method: 'GET', path, headers: { 'if-none-match': other } })).status, 200)
    }
    assert.equal((await send({ method: 'PUT', path, body: collection(',"name":"New"') })).status, 200)
    assert.equal((await send({ method: 'GET', path, headers: { 'if-none-match': etag } })).status, 200)
  })

  it('is ignored on records without a version', async () => {
    const response = await send({ method: 'GET', path: COLLECTIONS, headers: { 'if-none-match': '*' } })
    assert.equal(response.status, 200)
  })
})

describe('a list that is too long', () => {
  const body = (entry: string) => `{"ids":[${Array(200_000).fill(entry).join()}]}`
  for (const entry of ['0', '{}', 'null']) {
    it(`is reported once, without validating its items: ${entry}`, async () => {
      const path = '/iamcore/beta/sync/coreobjects/identities/multiple'
      const { status, json } = await send({ method: 'POST', path, body: body(entry) })
      assert.equal(status, 400)
      assert.deepEqual(json.errors, [
        { code: 'InvalidLength', message: 'ids must have at most 1000 entries, not a list of 200000', target: '/ids' },
      ])
    })
  }
})
