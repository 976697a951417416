import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { connect } from '../../infra/import/api-connection.ts'
import { type ConnectorSpace, nameOf } from '../../infra/import/connector-space.ts'
import { runImport } from '../../infra/import/run-import.ts'

const folder = mkdtempSync(join(tmpdir(), 'import-'))
after(() => rmSync(folder, { recursive: true }))

/** Imports one identity, and deletes two others, whose deletions the API answers with these statuses. */
async function deleteTwo(statuses: readonly number[]): Promise<{ code: number; said: readonly string[] }> {
  const path = join(folder, 'identities.csv')
  writeFileSync(path, 'externalId,displayName\nstays,New\n')
  const former = ['stays', 'first', 'second'].map((externalId) => ({ objectType: 'identity', externalId }) as const)
  const space: ConnectorSpace = {
    readTypes: async () => new Map(),
    readAll: async () => new Map(former.map((each) => [nameOf(each), { ...each, digest: '' }])),
    write: async (items) =>
      items.map(({ op }, index) => ({
        index,
        status: op === 'delete' ? (statuses[index] ?? 200) : 200,
        errors: [{ message: 'It is in use' }],
      })),
  }
  const said: string[] = []
  const options = { path, connectorId: 'hr', encoding: 'utf-8', isDryRun: false, deletesMissing: true } as const
  const connection = { apiUrl: '', token: undefined, credentials: undefined }
  const around = { space, progress: { show: () => undefined, end: () => undefined }, ask: undefined }
  const say = (line: string) => void said.push(line)
  return { code: await runImport({ ...options, isConfirmed: true, connection }, { ...around, say }), said }
}

describe('An import', () => {
  it('reports deletions that the API refuses, and ends with exit code 1', async () => {
    const { code, said } = await deleteTwo([200, 409])
    assert.equal(code, 1)
    assert.deepEqual(said.slice(-2), [
      'Not deleted: identity first: It is in use',
      'Done: 2 written, 0 unchanged, 1 failed',
    ])
  })

  it('takes what was deleted in the meantime for deleted', async () => {
    const { code, said } = await deleteTwo([404, 200])
    assert.deepEqual([code, said.at(-1)], [0, 'Done: 3 written, 0 unchanged, 0 failed'])
  })

  it('waits the seconds that the API names before it repeats a request', async () => {
    const atMs: number[] = []
    const server = createServer((_request, response) => {
      atMs.push(performance.now())
      if (atMs.length === 1) response.writeHead(429, { 'retry-after': '2' }).end()
      else response.end(JSON.stringify({ isSuccess: true, data: 'done' }))
    })
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
    try {
      const apiUrl = `http://localhost:${(server.address() as AddressInfo).port}`
      const call = await connect({ apiUrl, token: 'x', credentials: undefined })
      assert.equal((await call('GET', '/anything')).data, 'done')
    } finally {
      server.closeAllConnections()
      server.close()
    }
    const [first = 0, second = 0] = atMs
    assert.ok(second - first >= 1_990, `${second - first} ms`)
  })
})
