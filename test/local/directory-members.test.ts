import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Client } from '@microsoft/microsoft-graph-client'
import fc from 'fast-check'
import type { LocalDirectory } from '../../infra/local/directory/directory-server.ts'
import {
  binding,
  GROUPS,
  graphClient,
  graphToken,
  memberIds,
  OTHER_TENANT,
  openDirectory,
  PRINCIPAL,
  reference,
  send,
  user,
} from '../support/local/directory-fixture.ts'

const MISSING = '12345678-0000-4000-8000-000000000000'
const PLAIN = `/groups/${GROUPS.plain}`
const alreadyExists = {
  statusCode: 400,
  code: 'Request_BadRequest',
  message: "One or more added object references already exist for the following modified properties: 'members'.",
}
const notFound = (id: string) => ({
  statusCode: 404,
  code: 'Request_ResourceNotFound',
  message: `Resource '${id}' does not exist or one of its queried reference-property objects are not present.`,
})
const denied = {
  statusCode: 403,
  code: 'Authorization_RequestDenied',
  message: 'Insufficient privileges to complete the operation.',
}

describe('Members of groups in the local directory', () => {
  let directory: LocalDirectory
  after(() => directory.close())
  let service: Client
  before(async () => {
    directory = await openDirectory()
    service = graphClient(directory, 'service')
  })
  beforeEach(async () => {
    for (const id of await memberIds(service, GROUPS.plain)) await service.api(`${PLAIN}/members/${id}/$ref`).delete()
    directory.clearRequests()
  })

  const users = (from: number, count: number) => Array.from({ length: count }, (_, index) => user(from + index))

  it('adds 20 at once and lists them page by page', async () => {
    await service.api(PLAIN).patch(binding(users(0, 20)))
    await service.api(PLAIN).patch(binding(users(20, 20)))
    assert.deepEqual((await memberIds(service, GROUPS.plain, 7)).sort(), users(0, 40))
    const { value } = await service.api(`${PLAIN}/members?$select=id&$top=1`).get()
    assert.deepEqual(value, [{ '@odata.type': '#microsoft.graph.user', id: user(0) }])
  })

  for (const [claim, ids, error] of [
    ['a member already', [user(5), user(1)], alreadyExists],
    ['one that does not exist', [user(5), MISSING], notFound(MISSING)],
    ['a 21st', users(5, 21), { statusCode: 400, message: 'A resource cannot contain more than 20 link changes' }],
    ['one twice', [user(5), user(5)], { statusCode: 400, code: 'Request_BadRequest' }],
    ['no address', ['not an id'], { statusCode: 400, code: 'Request_BadRequest' }],
  ] as const) {
    it(`adds none if ${claim} is among them`, async () => {
      await service.api(PLAIN).patch(binding([user(1)]))
      await assert.rejects(service.api(PLAIN).patch(binding(ids)), error)
      assert.deepEqual(await memberIds(service, GROUPS.plain), [user(1)])
    })
  }

  it('adds one by reference, once', async () => {
    const add = (id: string) => service.api(`${PLAIN}/members/$ref`).post({ '@odata.id': reference(id) })
    await add(user(3))
    await assert.rejects(add(user(3)), alreadyExists)
    await assert.rejects(add(MISSING), notFound(MISSING))
    assert.deepEqual(await memberIds(service, GROUPS.plain), [user(3)])
  })

  it('names the group if the member to remove is not a member, with another error after a recent removal', async () => {
    const remove = (id: string) => service.api(`${PLAIN}/members/${id}/$ref`).delete()
    await service.api(PLAIN).patch(binding([user(50)]))
    await assert.rejects(remove(user(51)), notFound(GROUPS.plain))
    await remove(user(50))
    await assert.rejects(remove(user(50)), {
      statusCode: 400,
      message: /^One or more removed object references do not/,
    })
  })

  for (const [kind, error] of [
    ['dynamic', denied],
    ['distribution', denied],
    ['roleAssignable', denied],
    ['onPremises', { statusCode: 400, code: 'Request_BadRequest', message: /on-premises mastered/ }],
  ] as const) {
    it(`refuses to write the members of a group of the kind ${kind}`, async () => {
      const path = `/groups/${GROUPS[kind]}`
      await assert.rejects(service.api(path).patch(binding([user(1)])), error)
      await assert.rejects(service.api(`${path}/members/$ref`).post({ '@odata.id': reference(user(1)) }), error)
      await assert.rejects(service.api(`${path}/members/${user(1)}/$ref`).delete(), error)
    })
  }

  it('writes the members of a unified group', async () => {
    await service.api(`/groups/${GROUPS.unified}`).patch(binding([user(1)]))
    assert.deepEqual(await memberIds(service, GROUPS.unified), [user(1)])
  })

  it('excludes service principals from a list, and returns the types of the others', async () => {
    const { value } = await service.api(`/groups/${GROUPS.populated}/members?$select=id`).get()
    assert.deepEqual(
      value.map((member: Record<string, string>) => [member['@odata.type'], member.id]),
      [
        ['#microsoft.graph.user', user(1)],
        ['#microsoft.graph.user', user(2)],
        ['#microsoft.graph.user', user(3)],
        ['#microsoft.graph.group', GROUPS.plain],
      ],
    )
    assert.equal(
      value.some(({ id }: { id: string }) => id === PRINCIPAL),
      false,
    )
  })

  it('shows a group with hidden membership as empty', async () => {
    assert.deepEqual(await memberIds(service, GROUPS.hidden), [])
  })

  it('isolates tenants', async () => {
    const other = graphClient(directory, 'service', OTHER_TENANT)
    await other.api(PLAIN).patch(binding([user(9)]))
    assert.deepEqual(await memberIds(service, GROUPS.plain), [])
    assert.equal(directory.requests().at(-1)?.tenantId, '11111111-0000-4000-8000-000000000001')
  })

  it('deletes the user without /$ref if the application has the permission, and flags the request', async () => {
    const forgotten = `${PLAIN}/members/${user(59)}`
    await service.api(PLAIN).patch(binding([user(59)]))
    await assert.rejects(service.api(forgotten).delete(), denied)
    const tester = graphClient(directory, 'tester')
    await tester.api(`/users/${user(59)}`).get()
    await tester.api(forgotten).delete()
    await assert.rejects(tester.api(`/users/${user(59)}`).get(), notFound(user(59)))
    assert.deepEqual(
      directory.requests().flatMap(({ deletesMember, status }) => (deletesMember ? [status] : [])),
      [403, 204],
    )
  })

  for (const [claim, path, code] of [
    ['a page of 1000', `${PLAIN}/members?$top=1000`, 'Request_UnsupportedQuery'],
    ['a page of none', `${PLAIN}/members?$top=0`, 'Request_UnsupportedQuery'],
    ['an altered page token', `${PLAIN}/members?$skiptoken=abc`, 'BadRequest'],
    ['an unknown property', `${PLAIN}?$select=id,colour`, 'BadRequest'],
    ['an unknown filter', "/groups?$filter=endswith(displayName,'x')", 'Request_UnsupportedQuery'],
    ['an unknown segment', `${PLAIN}/friends`, 'BadRequest'],
  ] as const) {
    it(`refuses ${claim} in the format of the real service`, async () => {
      const answer = await send(directory, 'GET', `/v1.0${path}`, undefined, await graphToken(directory, 'service'))
      assert.equal(answer.status, 400)
      assert.equal(answer.body.error.code, code)
      assert.deepEqual(Object.keys(answer.body.error.innerError), ['date', 'request-id', 'client-request-id'])
      assert.match(answer.body.error.innerError.date, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
    })
  }

  it('equals a set after any writes', async () => {
    const write = fc.record({ isAdd: fc.boolean(), ids: fc.uniqueArray(fc.nat(11), { minLength: 1, maxLength: 5 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(write, { maxLength: 8 }), async (writes) => {
        const model = new Set(await memberIds(service, GROUPS.plain))
        for (const { isAdd, ids } of writes) {
          const members = ids.map(user)
          if (isAdd) {
            const isRefused = members.some((id) => model.has(id))
            const patched = service.api(PLAIN).patch(binding(members))
            if (isRefused) await assert.rejects(patched, alreadyExists)
            else await patched.then(() => members.forEach((id) => void model.add(id)))
          } else {
            for (const id of members) {
              const removed = service.api(`${PLAIN}/members/${id}/$ref`).delete()
              if (model.delete(id)) await removed
              else await assert.rejects(removed)
            }
          }
        }
        assert.deepEqual((await memberIds(service, GROUPS.plain, 3)).sort(), [...model].sort())
      }),
      { numRuns: 15 },
    )
  })
})
