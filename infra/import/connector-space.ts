import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import type { ApiCall } from './api-connection.ts'

/** An object's names within its connector, as one text. */
export const nameOf = ({ objectType, externalId }: { objectType: string; externalId: string }): string =>
  `${objectType} ${externalId}`

export type SpaceObject = { readonly objectType: ObjectType; readonly externalId: string; readonly digest: string }

export type SpaceItem = {
  readonly op: 'upsert' | 'delete'
  readonly objectType: ObjectType
  readonly externalId: string
  readonly data?: Readonly<Record<string, unknown>>
}

type ItemResult = {
  readonly index: number
  readonly status: number
  readonly errors?: readonly { readonly message: string }[]
}

/** What a connector has said so far, and a way to say more. */
export type ConnectorSpace = {
  /** Every live object, by name. @param onPage told how many there are so far. */
  readAll(onPage: (count: number) => void): Promise<Map<string, SpaceObject>>
  write(items: readonly SpaceItem[]): Promise<readonly ItemResult[]>
}

const PAGE_SIZE = 5000

/** What the service already has of a connector, read page by page, each object kept by its digest alone. */
export function connectorSpace(
  connectorId: string,
  call: ApiCall,
  digestOf: (data: unknown) => string,
): ConnectorSpace {
  const path = `/iamcore/beta/sync/connectors/${encodeURIComponent(connectorId)}/data`
  return {
    async readAll(onPage) {
      const objects = new Map<string, SpaceObject>()
      let query: string | undefined = `pageSize=${PAGE_SIZE}`
      while (query !== undefined) {
        const { data, nextCursor } = await call('GET', `${path}?${query}`)
        for (const { objectType, externalId, data: said } of data as (SpaceObject & { data: unknown })[]) {
          objects.set(nameOf({ objectType, externalId }), { objectType, externalId, digest: digestOf(said) })
        }
        onPage(objects.size)
        query = nextCursor === undefined ? undefined : `nextCursor=${encodeURIComponent(nextCursor)}`
      }
      return objects
    },
    write: async (items) => (await call('POST', `${path}/batch`, { items })).data as ItemResult[],
  }
}
