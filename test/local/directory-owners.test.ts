import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Client } from '@microsoft/microsoft-graph-client'
import type { LocalDirectory } from '../../infra/local/directory/directory-server.ts'
import { GROUPS, graphClient, openDirectory, PRINCIPAL, reference, user } from '../support/local/directory-fixture.ts'

describe('Owners of groups in the local directory', () => {
  let directory: LocalDirectory
  let tester: Client
  let service: Client
  before(async () => {
    directory = await openDirectory()
    tester = graphClient(directory, 'tester')
    service = graphClient(directory, 'service')
  })
  after(() => directory.close())

  const owners = (id: string) => `/groups/${id}/owners`
  const listed = async (id: string, filter?: string) => {
    const request = service.api(owners(id)).select('id')
    const { value } = await (filter === undefined ? request : request.filter(filter)).get()
    return (value as { id: string }[]).map((owner) => owner.id)
  }

  it('are added and removed; the list has no service principals, unless it is filtered by their id', async () => {
    const add = (id: string) => tester.api(`${owners(GROUPS.plain)}/$ref`).post({ '@odata.id': reference(id) })
    assert.deepEqual(await listed(GROUPS.plain), [])
    await add(user(1))
    await add(PRINCIPAL)
    assert.deepEqual(await listed(GROUPS.plain), [user(1)])
    assert.deepEqual(await listed(GROUPS.plain, `id eq '${PRINCIPAL}'`), [PRINCIPAL])
    assert.deepEqual(await listed(GROUPS.plain, `id eq '${user(2)}'`), [])
    await assert.rejects(add(user(1)), { statusCode: 400 })
    await assert.rejects(add(GROUPS.unified), { statusCode: 400 })
    await tester.api(`${owners(GROUPS.plain)}/${PRINCIPAL}/$ref`).delete()
    assert.deepEqual(await listed(GROUPS.plain, `id eq '${PRINCIPAL}'`), [])
    await assert.rejects(tester.api(`${owners(GROUPS.plain)}/${PRINCIPAL}/$ref`).delete(), { statusCode: 404 })
  })

  it('can be given when a group is created, by an application that may write groups', async () => {
    const body = {
      displayName: 'Owned',
      mailNickname: 'owned',
      'owners@odata.bind': [reference(PRINCIPAL)],
    }
    const { id } = await tester.api('/groups').post(body)
    assert.deepEqual(await listed(id, `id eq '${PRINCIPAL}'`), [PRINCIPAL])
    const addition = service.api(`${owners(id)}/$ref`).post({ '@odata.id': reference(user(1)) })
    await assert.rejects(addition, { statusCode: 403 })
  })
})
