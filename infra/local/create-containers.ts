import { CosmosClient } from '@azure/cosmos'
import { CONTAINERS, type ContainerDefinition, type ContainerId, DATABASE_ID } from '../../shared/cosmos/containers.ts'

type NamedContainer = ContainerDefinition & { readonly id: ContainerId }

/**
 * Properties that queries over a whole tenant need in order, or by which single ones are found. The cloud indexes all
 * properties; here it would be done at the first query, which had to wait for it.
 */
const INDEXED_PROPERTIES: Partial<Record<ContainerId, readonly string[]>> = {
  coreObjects: [
    '/objectType',
    ...['identity', 'orgUnit', 'relationship'].flatMap((type) => [`/search/${type}/text`, `/search/${type}/name`]),
    '/attributes/nin',
    '/attributes/directoryObjectId',
    '/attributes/directoryOnPremisesSamAccountName',
    '/attributes/employeeId',
    '/externalId',
  ],
}

/** Makes the database and its containers where they are missing: in the cloud the templates do so. */
export async function createContainers(endpoint: string, key: string): Promise<void> {
  const client = new CosmosClient({ endpoint, key })
  const { database } = await client.databases.createIfNotExists({ id: DATABASE_ID })
  for (const { id, partitionKey, defaultTtlS, uniqueKeys } of CONTAINERS as readonly NamedContainer[]) {
    const indexed = INDEXED_PROPERTIES[id] ?? []
    await database.containers.createIfNotExists({
      id,
      partitionKey: { paths: [partitionKey] },
      indexingPolicy: { includedPaths: [{ path: '/*' }, ...indexed.map((path) => ({ path: `${path}/?` }))] },
      ...(defaultTtlS === undefined ? {} : { defaultTtl: defaultTtlS }),
      ...(uniqueKeys === undefined
        ? {}
        : { uniqueKeyPolicy: { uniqueKeys: uniqueKeys.map((paths) => ({ paths: [...paths] })) } }),
    })
  }
  client.dispose()
}
