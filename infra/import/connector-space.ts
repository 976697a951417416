import { type AttributeTypes, customTypesOf } from '../../shared/domain/connectors/attribute-types.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import type { CustomTypes } from '../../shared/domain/core/custom-types.ts'
import type { ApiCall } from './api-connection.ts'
import { holderOf, personKeysOf } from './person-keys.ts'

/** The key of an object within its connector. */
export const nameOf = ({ objectType, externalId }: { objectType: string; externalId: string }): string =>
  `${objectType} ${externalId}`

export type SpaceObject = {
  readonly objectType: ObjectType
  readonly externalId: string
  readonly digest: string
  /** What the same person can have under another external id. */
  readonly keys: readonly string[]
  /** Of a position: the external id of its identity. */
  readonly holder?: string | undefined
}

export type SpaceItem = {
  readonly op: 'upsert' | 'delete'
  readonly objectType: ObjectType
  readonly externalId: string
  readonly previousExternalId?: string
  readonly data?: Readonly<Record<string, unknown>>
}

type ItemResult = {
  readonly index: number
  readonly status: number
  readonly errors?: readonly { readonly message: string }[]
  readonly warnings?: readonly { readonly target: string }[]
}

export type ConnectorSpace = {
  /** The types of the tenant's custom attributes. */
  readTypes(): Promise<CustomTypes>
  /** All objects by key. @param onPage receives the number of objects read so far */
  readAll(onPage: (count: number) => void): Promise<Map<string, SpaceObject>>
  write(items: readonly SpaceItem[]): Promise<readonly ItemResult[]>
}

const PAGE_SIZE = 5000

/** The objects of a connector through the API. Keeps a digest of each object, the keys of people and the holders of positions. */
export function connectorSpace(
  connectorId: string,
  call: ApiCall,
  digestOf: (data: unknown) => string,
): ConnectorSpace {
  const connector = `/iamcore/beta/sync/connectors/${encodeURIComponent(connectorId)}`
  const path = `${connector}/data`
  return {
    async readTypes() {
      const { data } = await call('GET', `${connector}/attribute-types`)
      return customTypesOf([{ attributeTypes: data as AttributeTypes }])
    },
    async readAll(onPage) {
      const objects = new Map<string, SpaceObject>()
      let query: string | undefined = `pageSize=${PAGE_SIZE}`
      while (query !== undefined) {
        const { data, nextCursor } = await call('GET', `${path}?${query}`)
        for (const { objectType, externalId, data: said } of data as (SpaceObject & {
          data: Readonly<Record<string, unknown>>
        })[]) {
          objects.set(nameOf({ objectType, externalId }), {
            ...{ objectType, externalId, digest: digestOf(said) },
            keys: personKeysOf(objectType, said),
            holder: holderOf(objectType, said),
          })
        }
        onPage(objects.size)
        query = nextCursor === undefined ? undefined : `nextCursor=${encodeURIComponent(nextCursor)}`
      }
      return objects
    },
    write: async (items) => (await call('POST', `${path}/batch`, { items })).data as ItemResult[],
  }
}
