import { CosmosClient } from '@azure/cosmos'
import { CONTAINERS, type ContainerDefinition, DATABASE_ID, indexingPolicyOf } from '../../shared/cosmos/containers.ts'

/** Creates the database and its missing containers. In Azure, the templates create them. */
export async function createContainers(endpoint: string, key: string): Promise<void> {
  const client = new CosmosClient({ endpoint, key })
  const { database } = await client.databases.createIfNotExists({ id: DATABASE_ID })
  for (const definition of CONTAINERS as readonly ContainerDefinition[]) {
    const { id, partitionKey, defaultTtlS, uniqueKeys } = definition
    await database.containers.createIfNotExists({
      id,
      partitionKey: { paths: [partitionKey] },
      indexingPolicy: indexingPolicyOf(definition),
      ...(defaultTtlS === undefined ? {} : { defaultTtl: defaultTtlS }),
      ...(uniqueKeys === undefined
        ? {}
        : { uniqueKeyPolicy: { uniqueKeys: uniqueKeys.map((paths) => ({ paths: [...paths] })) } }),
    })
  }
  client.dispose()
}
