import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type HttpResponse, refusalEnvelope, successEnvelope } from '../../shared/http/envelope.ts'
import type { RefusalCode } from '../../shared/kernel/refusal-register.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { assertConforming } from '../support/http/conformity.ts'

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e'
const PATH = `/iamcore/beta/sync/connectors/${ID}`
const CONNECTOR = {
  id: ID,
  name: 'HR',
  clientId: ID,
  softDeletionDays: 90,
  bindsAccounts: true,
  authority: 'Full',
  joinOn: ['nin', 'directoryObjectId'],
  expectedIntervalHours: null,
  attributeTypes: [],
  lastDeliveredAt: null,
  objectCounts: { identity: 0, orgUnit: 0, relationship: 0 },
  health: 'Healthy',
  enabled: true,
  createdAt: '2030-01-01T00:00:00.000+00:00',
  createdBy: ID,
  updatedAt: '2030-01-01T00:00:00.000+00:00',
}

const identified = (response: HttpResponse): HttpResponse => ({
  ...response,
  headers: { ...response.headers, 'x-request-id': 'one' },
})
const found = (data: object, headers: Record<string, string> = { etag: '"1"' }) =>
  identified(successEnvelope({ data, headers }, 200))
const refused = (code: RefusalCode, headers?: Record<string, string>) =>
  identified(refusalEnvelope(new Refusal(code), headers))

describe('a response conforms to the API document', () => {
  it('when it is a result, a refusal of the route, or a refusal before routing', () => {
    assertConforming('GET', PATH, found(CONNECTOR))
    assertConforming('GET', PATH, refused('ConnectorNotFound'))
    assertConforming('GET', PATH, refused('TokenMissing', { 'www-authenticate': 'Bearer' }))
    assertConforming('GET', '/nowhere', refused('RouteNotFound'))
    assertConforming('PATCH', PATH, refused('MethodNotAllowed'))
  })

  const { name: _name, ...nameless } = CONNECTOR
  for (const [claim, method, response, reason] of [
    ['lacks a member', 'GET', found(nameless), /name/],
    ['has a member too many', 'GET', found({ ...CONNECTOR, tenantId: ID }), /additional/],
    ['has a value of another form', 'GET', found({ ...CONNECTOR, id: 'x' }), /uuid/],
    ['has no etag', 'GET', found(CONNECTOR, {}), /etag/],
    ['has no request id', 'GET', successEnvelope({ data: CONNECTOR, headers: { etag: '"1"' } }, 200), /x-request-id/],
    ['has a status that is not described', 'GET', identified(successEnvelope({ data: null }, 202)), /not described/],
    ['refuses with what the route does not', 'GET', refused('CollectionNotFound'), /CollectionNotFound/],
    ['does not say how to authenticate', 'GET', refused('TokenMissing'), /www-authenticate/],
    ['has a body for HEAD', 'HEAD', found(CONNECTOR), /body/],
  ] as const) {
    it(`does not when it ${claim}`, () => assert.throws(() => assertConforming(method, PATH, response), reason))
  }
})
