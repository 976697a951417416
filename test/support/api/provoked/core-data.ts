import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { criteriaRoutes } from '../../../../functions/routes/collections-criteria.ts'
import { connectorRoutes } from '../../../../functions/routes/connectors.ts'
import type { RefusalCode } from '../../../../shared/kernel/refusal-register.ts'
import { builtService } from '../built-service.ts'
import {
  application,
  CONNECTORS,
  CORE,
  type CoreDataService,
  newTenant,
  sendTo,
  to,
  upsert,
  user,
} from '../core-data-service.ts'
import { type Provocation, provoked } from './provocation.ts'

const GRADE = { objectType: 'identity', name: 'grade', type: 'Integer' }

/** Refusals of connectors, their data and core objects. */
export function coreDataProvocations(service: CoreDataService) {
  const tenant = () => newTenant(service)
  const connected = async (more: object = {}) => {
    const { admin, addConnector, tenantId } = await tenant()
    const connector = await addConnector('HR', more)
    const add = async (objectType: string, externalId: string, data: object) =>
      provoked(await connector.send('POST', connector.data, { objectType, externalId, data }))
    return { admin, tenantId, connector, add }
  }
  const as = async (path: string, method = 'GET') => provoked(await (await tenant()).admin(method, path))
  return {
    InvalidCursor: () => as(`${CORE}/identities?nextCursor=v1_x`),
    CoreObjectNotFound: () => as(`${CORE}/identities/${randomUUID()}`),
    async IdentityIsLive() {
      const { admin, connector } = await connected()
      await connector.batch({ op: 'upsert', objectType: 'identity', externalId: 'a', data: {} })
      const [{ id }] = (await admin('GET', `${CORE}/identities`)).body.data
      return provoked(await admin('DELETE', `${CORE}/identities/${id}/personal-data`))
    },
    ConnectorNotFound: () => as(`${CONNECTORS}/${randomUUID()}`),
    async ConnectorInUse() {
      const { admin, connector, add } = await connected()
      await add('identity', 'a', { displayName: 'Ada' })
      return provoked(await admin('DELETE', `${CONNECTORS}/${connector.id}`))
    },
    async ConnectorDisabled() {
      const { add } = await connected({ enabled: false })
      return add('identity', 'a', {})
    },
    async ConnectorObjectNotFound() {
      const { connector } = await connected()
      return provoked(await connector.send('GET', `${connector.data}/identity/a`))
    },
    async ConnectorObjectExists() {
      const { add } = await connected()
      await add('identity', 'a', {})
      return add('identity', 'a', {})
    },
    async NotThisConnector() {
      const { connector, tenantId } = await connected()
      const other = service.as(application(tenantId, randomUUID(), 'iam-core.connector-data.readwrite.self'))
      return provoked(await other('GET', connector.data))
    },
    async AttributeTypeConflict() {
      const { admin, addConnector } = await tenant()
      await addConnector('HR', { attributeTypes: [GRADE] })
      const other = await addConnector('Payroll')
      const attributeTypes = [{ ...GRADE, type: 'Boolean' }]
      return provoked(await admin('PUT', `${CONNECTORS}/${other.id}`, { attributeTypes }))
    },
    async AttributeValuesDoNotFit() {
      const { admin, connector, add } = await connected()
      await add('identity', 'a', { 'custom/grade': 'high' })
      return provoked(await admin('PUT', `${CONNECTORS}/${connector.id}`, { attributeTypes: [GRADE] }))
    },
    async ConditionsDoNotFit() {
      const { connectors, requests, dispatch } = builtService(service.database)
      const tenantId = randomUUID()
      const caller = user(tenantId, randomUUID(), 'Administrator', 'collection_criteria_definition-administrator')
      const admin = sendTo([connectorRoutes(connectors), criteriaRoutes(requests)], caller, dispatch)
      const attributeTypes = [{ ...GRADE, type: 'StringList' }]
      const { body } = await admin('POST', CONNECTORS, { name: 'HR', clientId: randomUUID(), attributeTypes })
      const document = { id: randomUUID(), tenantId, objectType: 'identity', externalId: 'a', contributors: [] }
      const attributes = { 'custom/grade': ['9'] }
      await service.database('coreObjects').items.create({ ...document, attributes, deleted: false })
      const leaf = { id: 'identityCustom/grade', field: 'identityCustom/grade', operator: 'ContainsAny', value: ['9'] }
      const condition = { groupOperator: 'AND', conditions: [leaf] }
      await admin('POST', '/collections-criteria/beta', { name: 'A', objectType: 'Identity', condition })
      return provoked(await admin('PUT', `${CONNECTORS}/${body.data}`, { attributeTypes: [GRADE] }))
    },
    async UnknownAttribute() {
      return (await connected()).add('identity', 'a', { colour: 'red' })
    },
    async ObjectTooLarge() {
      const { addConnector } = await tenant()
      const values = (name: string) =>
        Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`custom/${name}${i}`, '😀'.repeat(2_000)]))
      for (const name of ['a', 'b']) {
        const { batch } = await addConnector(name)
        await batch(upsert('identity', name, { nin: '1', ...values(name) }))
      }
      const { send, data } = await addConnector('c')
      const body = { objectType: 'identity', externalId: 'c', data: { nin: '1', ...values('c') } }
      return provoked(await send('POST', data, body))
    },
    async ExternalIdInUse() {
      const { connector } = await connected()
      await connector.batch(upsert('identity', 'a', {}), upsert('identity', 'b', {}))
      const items = [{ ...upsert('identity', 'b', {}), previousExternalId: 'a' }]
      const [refused] = await connector.batch(...items)
      return provoked({ status: refused.status, body: refused })
    },
    async ConnectorSupplementsOnly() {
      const { add } = await connected({ authority: 'Supplement' })
      return add('orgUnit', 'a', {})
    },
    async TooManyAttributes() {
      const { add, connector } = await connected()
      const named = (from: number) =>
        Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`custom/${from + i}`, 'x']))
      await connector.batch(upsert('identity', 'a', named(0)), upsert('identity', 'b', named(100)))
      return add('identity', 'c', { 'custom/200': 'x' })
    },
    async TenantTooLarge() {
      const { requests, dispatch } = builtService(service.database, {}, { rowsMemoryMB: 0.001 })
      const caller = application(randomUUID(), randomUUID(), 'collections-criteria.criteria.read.all')
      const { status, body, headers } = await sendTo(
        [criteriaRoutes(requests)],
        caller,
        dispatch,
      )('GET', '/collections-criteria/beta/tenant-schemas')
      assert.equal(headers['retry-after'], '600')
      return provoked({ status, body })
    },
    async QuotaExceeded() {
      const { connectors, dispatch } = builtService(service.database, {
        tenantLimits: { connectors: 0 },
      })
      const caller = user(randomUUID(), randomUUID(), 'Administrator')
      const body = { name: 'HR', clientId: randomUUID() }
      return provoked(await sendTo([connectorRoutes(connectors)], caller, dispatch)('POST', CONNECTORS, body))
    },
    async ReferenceToItself() {
      return (await connected()).add('orgUnit', 'a', { parent: to('a') })
    },
    async ReferenceCycle() {
      const { add } = await connected()
      await add('orgUnit', 'a', { parent: to('b') })
      return add('orgUnit', 'b', { parent: to('a') })
    },
    async DuplicateItem() {
      const { connector } = await connected()
      const [, second] = await connector.batch(upsert('identity', 'a', {}), upsert('identity', 'a', {}))
      return provoked({ status: second.status, body: second })
    },
  } satisfies Partial<Record<RefusalCode, Provocation>>
}
