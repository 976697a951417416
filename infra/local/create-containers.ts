import { CosmosClient } from '@azure/cosmos'
import { CONTAINERS, type ContainerDefinition, DATABASE_ID } from '../../shared/cosmos/containers.ts'

/** Creates the database and every container that is not there yet. */
export async function createContainers(endpoint: string, key: string): Promise<void> {
  const client = new CosmosClient({ endpoint, key })
  try {
    const { database } = await client.databases.createIfNotExists({ id: DATABASE_ID })
    for (const { id, partitionKey, defaultTtlS, uniqueKeys } of CONTAINERS as readonly ContainerDefinition[]) {
      await database.containers.createIfNotExists({
        id,
        partitionKey: { paths: [partitionKey] },
        ...(defaultTtlS === undefined ? {} : { defaultTtl: defaultTtlS }),
        ...(uniqueKeys === undefined
          ? {}
          : { uniqueKeyPolicy: { uniqueKeys: uniqueKeys.map((paths) => ({ paths: [...paths] })) } }),
      })
    }
  } finally {
    client.dispose()
  }
}
