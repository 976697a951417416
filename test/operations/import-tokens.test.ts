import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { it } from 'node:test'
import { connect } from '../../infra/import/api-connection.ts'

it('A token that expires during a run is replaced by a new one, for the request and for those after it', async () => {
  const seen: (string | undefined)[] = []
  const server = createServer(({ headers: { authorization } }, response) => {
    seen.push(authorization)
    if (authorization === 'Bearer first') response.writeHead(401)
    response.end(JSON.stringify({ isSuccess: true, data: 'done' }))
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  try {
    const apiUrl = `http://localhost:${(server.address() as AddressInfo).port}`
    const tokens = ['first', 'second', 'third']
    const newToken = async () => tokens.shift() ?? assert.fail('too many tokens')
    const call = await connect({ apiUrl, token: undefined, credentials: undefined, newToken })
    for (const path of ['/one', '/two']) assert.equal((await call('GET', path)).data, 'done')
  } finally {
    server.closeAllConnections()
    server.close()
  }
  assert.deepEqual(seen, ['Bearer first', 'Bearer second', 'Bearer second'])
})
