import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import type { Deputy, DeputyStore } from '../../domain/membership-requests/deputies.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { documentParser } from '../document-parser.ts'
import {
  ifVersion,
  type QueryParameters,
  queryAll,
  readDocument,
  refuse,
  type Stored,
  sqlParameters,
  statusOf,
} from '../documents.ts'

/** The property names differ from those of requests so that no index mixes the two. */
const parseDeputy = documentParser(
  'deputy',
  Type.Object({
    tenantId: Type.String(),
    represents: Type.String(),
    deputyId: Type.String(),
    fromMs: Type.Number(),
    untilMs: Type.Number(),
  }),
)

/** The longest time for which Cosmos keeps a document that expires: 68 years. */
const MAX_KEPT_S = 2_147_483_647

const idOf = (identityId: string): string => `deputy:${identityId}`

/** Container `requests`, partition key `/tenantId`. Documents expire some time after their end. */
export function cosmosDeputyStore(requests: Container, nowMs: () => number): DeputyStore {
  const find = async (tenantId: string, where: string, parameters: QueryParameters) => {
    const query = { query: `SELECT * FROM c WHERE ${where}`, parameters: sqlParameters(parameters) }
    const found = await queryAll<Stored<object>>(requests, tenantId, query)
    return found.map(deputyOf).filter(({ value }) => value.untilMs > nowMs())
  }
  return {
    async find(tenantId, identityId) {
      const document = await readDocument<object>(requests, idOf(identityId), tenantId)
      const found = document && deputyOf(document)
      return found !== undefined && found.value.untilMs > nowMs() ? found : undefined
    },
    ofDeputy: (tenantId, deputyId) => find(tenantId, 'c.deputyId = @deputyId', { deputyId }),
    all: (tenantId) => find(tenantId, "c.type = 'deputy'", {}),
    async save({ tenantId, identityId, deputyId, fromMs, untilMs }, version) {
      const ttl = Math.min(Math.max(1, Math.ceil((untilMs - nowMs()) / 1000)), MAX_KEPT_S)
      const id = idOf(identityId)
      const document = { id, tenantId, type: 'deputy', represents: identityId, deputyId, fromMs, untilMs, ttl }
      if (version === undefined) await requests.items.upsert(document)
      else {
        const conflict = refuse({ 404: 'StaleVersion', 412: 'StaleVersion' })
        await requests.item(id, tenantId).replace(document, ifVersion(version)).catch(conflict)
      }
    },
    async remove(tenantId, identityId, version) {
      await requests
        .item(idOf(identityId), tenantId)
        .delete(version === undefined ? {} : ifVersion(version))
        .catch((error: unknown) => {
          if (![404, 412].includes(statusOf(error) ?? 0)) throw error
        })
    },
  }
}

function deputyOf(document: Stored<object>): Versioned<Deputy> {
  const { tenantId, represents, deputyId, fromMs, untilMs } = parseDeputy(document)
  return { value: { tenantId, identityId: represents, deputyId, fromMs, untilMs }, version: document._etag }
}
