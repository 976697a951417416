import assert from 'node:assert/strict'
import { it } from 'node:test'
import { type GraphCall, graphCalls } from '../../shared/graph/graph-calls.ts'
import { graphTokens } from '../../shared/graph/graph-tokens.ts'
import { openDirectory, SERVICE, TENANT } from '../support/jobs/link-directory.ts'

it('a call after 401 uses another token than the one that was refused, and other refusals keep it', async () => {
  const { server, newGroup, close } = await openDirectory()
  try {
    const settings = { authorityUrl: server.url, homeTenantId: TENANT, graphIdentityClientId: undefined }
    const own = graphTokens({ ...settings, clientId: SERVICE, clientSecret: 'service-secret' }, () => Date.now())
    let [fetchedCount, token]: [number, string | undefined] = [0, undefined]
    const tokens: typeof own = {
      ...own,
      async get(tenantId) {
        if (token === undefined) {
          fetchedCount += 1
          token = fetchedCount === 1 ? 'refused' : await own.get(tenantId)
        }
        return token
      },
      invalidate: () => {
        token = undefined
      },
    }
    const send = graphCalls(server.url, tokens, () => Date.now())
    const read = (id: string): GraphCall => ({ method: 'GET', path: `/groups/${id}` })
    const groupId = await newGroup()
    const statuses = [401, 200, 404, 200]
    const ids = [groupId, groupId, '00000000-0000-4000-8000-0000000fffff', groupId]
    for (const [index, id] of ids.entries()) assert.equal((await send(TENANT, read(id))).status, statuses[index])
    assert.equal(fetchedCount, 2)
  } finally {
    await close()
  }
})
