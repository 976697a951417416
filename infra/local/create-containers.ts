import { CosmosClient } from '@azure/cosmos'
import { CONTAINERS, type ContainerDefinition, type ContainerId, DATABASE_ID } from '../../shared/cosmos/containers.ts'
import { OBJECT_TYPES } from '../../shared/domain/core/core-object.ts'

type NamedContainer = ContainerDefinition & { readonly id: ContainerId }

/**
 * Properties by which single documents are found. The cloud indexes all properties; here it would be done at the first
 * query, which had to wait for it.
 */
const INDEXED_PROPERTIES: Partial<Record<ContainerId, readonly string[]>> = {
  coreObjects: [
    '/objectType',
    '/attributes/nin',
    '/attributes/directoryObjectId',
    '/attributes/directoryOnPremisesSamAccountName',
    '/attributes/employeeId',
    '/externalId',
  ],
}

/** Properties in whose order queries want documents, each with the one in which these look for a text. */
const SEARCHED_PROPERTIES: Partial<Record<ContainerId, readonly (readonly [string, string])[]>> = {
  coreObjects: OBJECT_TYPES.map((type) => [`/search/${type}/name`, `/search/${type}/text`]),
}

/** Makes the database and its containers where they are missing: in the cloud the templates do so. */
export async function createContainers(endpoint: string, key: string): Promise<void> {
  const client = new CosmosClient({ endpoint, key })
  const { database } = await client.databases.createIfNotExists({ id: DATABASE_ID })
  for (const { id, partitionKey, defaultTtlS, uniqueKeys } of CONTAINERS as readonly NamedContainer[]) {
    const indexed = INDEXED_PROPERTIES[id] ?? []
    const searched = SEARCHED_PROPERTIES[id] ?? []
    await database.containers.createIfNotExists({
      id,
      partitionKey: { paths: [partitionKey] },
      indexingPolicy: {
        includedPaths: [{ path: '/*' }, ...indexed.map((path) => ({ path: `${path}/?` }))],
        compositeIndexes: searched.map((paths) => paths.map((path) => ({ path, order: 'ascending' as const }))),
      },
      ...(defaultTtlS === undefined ? {} : { defaultTtl: defaultTtlS }),
      ...(uniqueKeys === undefined
        ? {}
        : { uniqueKeyPolicy: { uniqueKeys: uniqueKeys.map((paths) => ({ paths: [...paths] })) } }),
    })
  }
  client.dispose()
}
