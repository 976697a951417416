import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '@microsoft/microsoft-graph-client'
import type { LocalDirectory } from '../../infra/local/directory/directory-server.ts'
import {
  binding,
  GROUPS,
  graphClient,
  graphToken,
  memberIds,
  openDirectory,
  send,
  user,
} from '../support/local/directory-fixture.ts'

describe('Groups and users in the local directory', () => {
  let directory: LocalDirectory
  after(() => directory.close())
  let tester: Client
  let service: Client
  before(async () => {
    directory = await openDirectory()
    tester = graphClient(directory, 'tester')
    service = graphClient(directory, 'service')
  })

  it('returns the selected properties of a group', async () => {
    const { '@odata.context': _, ...group } = await service
      .api(`/groups/${GROUPS.unified}`)
      .select(
        'id,displayName,groupTypes,mailEnabled,securityEnabled,onPremisesSyncEnabled,isAssignableToRole,visibility',
      )
      .get()
    assert.deepEqual(group, {
      id: GROUPS.unified,
      displayName: 'Group unified',
      groupTypes: ['Unified'],
      mailEnabled: true,
      securityEnabled: false,
      onPremisesSyncEnabled: null,
      isAssignableToRole: null,
      visibility: null,
    })
  })

  it('pages lists with links on the origin of the request', async () => {
    const first = await service.api('/groups?$top=3&$select=id').get()
    assert.equal(first.value.length, 3)
    assert.ok(first['@odata.nextLink'].startsWith(`${directory.url}/v1.0/groups?$top=3&$select=`))
    const numeric = directory.url.replace('localhost', '127.0.0.1')
    const token = await graphToken(directory, 'service')
    const page = await fetch(`${numeric}/v1.0/groups?$top=3`, { headers: { authorization: `Bearer ${token}` } })
    const { '@odata.nextLink': link } = (await page.json()) as Record<string, string>
    assert.ok(link?.startsWith(numeric))
  })

  it('finds by name and by id', async () => {
    const byName = await service.api('/groups').filter("startswith(displayName,'group PLAIN')").get()
    const byId = await tester
      .api('/users')
      .filter(`id eq '${user(4)}'`)
      .get()
    assert.deepEqual(
      byName.value.map(({ id }: { id: string }) => id),
      [GROUPS.plain],
    )
    assert.deepEqual(
      byId.value.map(({ displayName }: { displayName: string }) => displayName),
      ['User 4'],
    )
  })

  it('finds groups by the start of their name, in which no character is special', async () => {
    const names = ["Lærere's %", "lærere's _", 'Other']
    const ids: string[] = []
    for (const displayName of names)
      ids.push((await tester.api('/groups').post({ displayName, mailNickname: 'any' })).id)
    const found = async (start: string) => {
      const filter = `startswith(displayName,'${start.replaceAll("'", "''")}')`
      const { value } = await service.api('/groups').filter(filter).top(50).get()
      return value.map(({ displayName }: { displayName: string }) => displayName)
    }
    assert.deepEqual(await found("Lærere's"), names.slice(0, 2))
    assert.deepEqual(await found("Lærere's %"), names.slice(0, 1))
    assert.deepEqual(await found('%'), [])
    for (const id of ids) await tester.api(`/groups/${id}`).delete()
  })

  it('creates, changes and deletes a group', async () => {
    const { id } = await tester.api('/groups').post({ displayName: 'New', mailNickname: 'new', ...binding([user(1)]) })
    assert.deepEqual(await memberIds(service, id), [user(1)])
    await tester.api(`/groups/${id}`).patch({ groupTypes: ['DynamicMembership'] })
    await assert.rejects(service.api(`/groups/${id}`).patch(binding([user(2)])), { statusCode: 403 })
    await tester.api(`/groups/${id}`).delete()
    await assert.rejects(service.api(`/groups/${id}`).get(), { statusCode: 404, code: 'Request_ResourceNotFound' })
  })

  it('does not create a group with a missing member', async () => {
    const members = binding(['12345678-0000-4000-8000-000000000000'])
    await assert.rejects(tester.api('/groups').post({ displayName: 'Half', mailNickname: 'half', ...members }), {
      statusCode: 404,
    })
    assert.deepEqual((await tester.api('/groups').filter("startswith(displayName,'Half')").get()).value, [])
  })

  it('creates a user, finds it by name, and refuses a duplicate name', async () => {
    const passwordProfile = { password: 'x' }
    const names = { displayName: 'Þóra', mailNickname: 'thora', userPrincipalName: 'thora@one.example' }
    const body = { ...names, passwordProfile }
    const { id } = await tester.api('/users').post(body)
    assert.equal((await tester.api('/users/THORA@one.example').get()).id, id)
    await assert.rejects(tester.api('/users').post(body), {
      statusCode: 400,
      message: /userPrincipalName already exists/,
    })
    assert.equal((await tester.api(`/directoryObjects/${id}`).get())['@odata.type'], '#microsoft.graph.user')
    await tester.api(`/users/${id}`).delete()
    await assert.rejects(tester.api(`/users/${id}`).get(), { statusCode: 404 })
  })

  it('finds the users among up to 1,000 ids', async () => {
    const read = (ids: readonly string[]) => tester.api('/directoryObjects/getByIds').post({ ids, types: ['user'] })
    const { value } = await read([user(3), GROUPS.plain, '12345678-0000-4000-8000-000000000000', user(2), user(3)])
    assert.deepEqual(
      value.map((object: Record<string, unknown>) => [object['@odata.type'], object.id]),
      [user(3), user(2)].map((id) => ['#microsoft.graph.user', id]),
    )
    await assert.rejects(read(Array(1_001).fill(user(1))), { statusCode: 400 })
  })

  it('removes memberships with the user', async () => {
    const { id: groupId } = await tester
      .api('/groups')
      .post({ displayName: 'Ends', mailNickname: 'ends', ...binding([user(40), user(41)]) })
    await tester.api(`/users/${user(40)}`).delete()
    assert.deepEqual(await memberIds(service, groupId), [user(41)])
  })

  const USER = { displayName: 'X', userPrincipalName: 'x@one.example' }
  const MEMBERS = `/groups/${GROUPS.plain}/members`
  for (const [claim, name, method, path, body, status] of [
    ['an application without rights any read', 'reader', 'GET', `/groups/${GROUPS.plain}`, undefined, 403],
    ['the service users', 'service', 'GET', '/users', undefined, 403],
    ['the service types of objects', 'service', 'POST', '/directoryObjects/getByIds', { ids: [user(1)] }, 403],
    ['the service new groups', 'service', 'POST', '/groups', { displayName: 'x' }, 403],
    ['the service other properties', 'service', 'PATCH', `/groups/${GROUPS.plain}`, { displayName: 'x' }, 403],
    ['anybody unknown properties', 'tester', 'PATCH', `/groups/${GROUPS.plain}`, { colour: 'red' }, 400],
    ['anybody a group without a name', 'tester', 'POST', '/groups', { mailNickname: 'x' }, 400],
    ['anybody a group without a mail nickname', 'tester', 'POST', '/groups', { displayName: 'x' }, 400],
    ['anybody a user without a mail nickname', 'tester', 'POST', '/users', USER, 400],
    ['anybody an unknown property of a list', 'tester', 'GET', '/users?$select=id,colour', undefined, 400],
    ['anybody an unknown property of members', 'tester', 'GET', `${MEMBERS}?$select=colour`, undefined, 400],
    [
      'anybody an unknown property of an object',
      'tester',
      'GET',
      `/directoryObjects/${user(1)}?$select=x`,
      undefined,
      400,
    ],
    ['anybody a body that is not JSON', 'tester', 'POST', '/groups', '{', 400],
    ['anybody another method', 'tester', 'PUT', `/groups/${GROUPS.plain}`, {}, 405],
  ] as const) {
    it(`denies ${claim}`, async () => {
      const answer = await send(directory, method, `/v1.0${path}`, body, await graphToken(directory, name))
      assert.equal(answer.status, status)
      assert.equal(typeof answer.body.error.code, 'string')
    })
  }

  it('returns the id of the request, also in the error', async () => {
    const authorization = `Bearer ${await graphToken(directory, 'tester')}`
    const read = async (path: string, more: Record<string, string> = {}) => {
      const response = await fetch(`${directory.url}/v1.0${path}`, { headers: { authorization, ...more } })
      return { headers: response.headers, body: (await response.json()) as { error?: { innerError: object } } }
    }
    const { headers } = await read('/users?$top=1')
    assert.match(headers.get('request-id') ?? '', /^[\da-f-]{36}$/)
    assert.equal(headers.get('client-request-id'), headers.get('request-id'))
    const { headers: refused, body } = await read('/users/nobody', { 'client-request-id': 'mine' })
    assert.notEqual(refused.get('request-id'), headers.get('request-id'))
    const { date: _, ...ids } = (body.error?.innerError ?? {}) as { date?: string }
    assert.deepEqual(ids, { 'request-id': refused.get('request-id'), 'client-request-id': 'mine' })
    const denied = await fetch(`${directory.url}/v1.0/users`)
    assert.match(denied.headers.get('request-id') ?? '', /^[\da-f-]{36}$/)
  })

  it('returns 401 without a token for Graph', async () => {
    const claims = { aud: 'https://graph.microsoft.com', tid: 'x', exp: 4102444800, roles: ['Group.ReadWrite.All'] }
    const forged = await send(directory, 'POST', '/local/tokens', { claims, key: 'otherIssuer' })
    const expired = await send(directory, 'POST', '/local/tokens', { claims: { ...claims, exp: 1 }, key: 'current' })
    for (const token of [undefined, 'x', 'a.b.c', forged.body.token, expired.body.token]) {
      const answer = await send(directory, 'GET', '/v1.0/groups', undefined, token)
      assert.equal(answer.status, 401)
      assert.equal(answer.body.error.code, 'InvalidAuthenticationToken')
    }
  })
})
