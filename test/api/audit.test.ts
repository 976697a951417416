import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { AuditEntry } from '../../shared/domain/insight/list-audit.ts'
import {
  COLLECTIONS,
  CRITERIA,
  codes,
  criteriaTenant,
  named,
  startCriteriaService,
  UNKNOWN_ID,
} from '../support/api/criteria-service.ts'

const service = await startCriteriaService()

const METADATA = { tags: [], attributes: {} }
const what = ({ actorId, action, before, after }: AuditEntry) => ({ actorId, action, before, after })

async function newTenant() {
  const tenant = criteriaTenant(service)
  const account = randomUUID()
  const authorId = await tenant.person('Author', { directoryObjectId: account })
  const send = service.asUser(tenant.tenantId, account, 'collection_criteria_definition-administrator')
  const create = async () =>
    (await send('POST', CRITERIA, { objectType: 'Identity', name: 'Anns', condition: named('Ann') })).body.data
  const audit = async (id: string): Promise<AuditEntry[]> =>
    (await tenant.send('GET', `${COLLECTIONS}/${id}/audit`)).body.data
  return { ...tenant, authorId, account, send, create, audit }
}

describe('The audit of a collection', () => {
  it('has who created, changed and deleted it, with the changed fields, and outlives it', async () => {
    const tenant = await newTenant()
    const id = await tenant.create()
    service.clock.nowMs += 1000
    await tenant.send('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', name: 'Ans', condition: named('An') })
    service.clock.nowMs += 1000
    await tenant.send('DELETE', `${CRITERIA}/${id}`)
    const { authorId: actorId } = tenant
    const first = {
      objectType: 'Identity',
      name: 'Anns',
      description: null,
      metadata: METADATA,
      condition: named('Ann'),
    }
    const last = { ...first, name: 'Ans', condition: named('An') }
    const entries = await tenant.audit(id)
    assert.deepEqual(entries.map(what), [
      { actorId, action: 'Deleted', before: last, after: {} },
      {
        actorId,
        action: 'Updated',
        before: { name: 'Anns', condition: named('Ann') },
        after: { name: 'Ans', condition: named('An') },
      },
      { actorId, action: 'Created', before: {}, after: first },
    ])
    assert.deepEqual(new Set(entries.map(({ linkId }) => linkId)), new Set([null]))
    assert.deepEqual(codes(await tenant.send('GET', `${COLLECTIONS}/${UNKNOWN_ID}/audit`)), [404, 'CollectionNotFound'])
  })

  it('has no entry for what was refused or changes nothing, and names applications by their oid', async () => {
    const tenant = await newTenant()
    const id = await tenant.create()
    await tenant.send('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', name: 'Anns' })
    await tenant.send(
      'PUT',
      `${CRITERIA}/${id}`,
      { objectType: 'Identity', condition: named('Bo') },
      { 'if-match': '"x"' },
    )
    await tenant.send('PUT', `${CRITERIA}/${id}`, { objectType: 'OrgUnit' })
    assert.equal((await tenant.audit(id)).length, 1)
    const application = service.as(tenant.tenantId)
    service.clock.nowMs += 1000
    await application('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', name: 'Bos' })
    const [entry] = await tenant.audit(id)
    assert.match(entry?.actorId ?? '', /^[0-9a-f-]{36}$/)
    assert.ok(![tenant.authorId, tenant.account].includes(entry?.actorId ?? ''))
  })

  it('has one entry for each of many concurrent changes, in pages', async () => {
    const tenant = await newTenant()
    const id = await tenant.create()
    const names = Array.from({ length: 6 }, (_, index) => `Name ${index}`)
    await Promise.all(names.map((name) => tenant.send('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', name })))
    const whole = await tenant.audit(id)
    assert.deepEqual(await tenant.paged(`${COLLECTIONS}/${id}/audit`, 2), whole)
    const updates = whole.filter(({ action }) => action === 'Updated')
    assert.deepEqual(updates.map(({ after }) => after.name as string).toSorted(), names)
    // Each change begins where another one has ended.
    const begins = updates.map(({ before }) => before.name as string)
    const { name } = (await tenant.send('GET', `${CRITERIA}/${id}`)).body.data
    assert.deepEqual(begins.toSorted(), ['Anns', ...names.filter((each) => each !== name)].toSorted())
  })

  it('gives the length of a value that is too long for it', async () => {
    const tenant = await newTenant()
    const id = await tenant.create()
    service.clock.nowMs += 1000
    const leaf = () => {
      const value = Array.from({ length: 900 }, () => randomUUID())
      return { id: 'identityId', field: 'identityId', operator: 'In', value }
    }
    const condition = { groupOperator: 'OR', conditions: [leaf(), leaf(), leaf()] }
    assert.equal((await tenant.send('PUT', `${CRITERIA}/${id}`, { objectType: 'Identity', condition })).status, 200)
    const [entry] = await tenant.audit(id)
    assert.deepEqual(entry?.after, { condition: { omittedLength: JSON.stringify(condition).length } })
  })
})
