import type { CollectionCounts } from '../../shared/domain/insight/collection-counts.ts'
import type { Api } from './api.ts'
import { type Resource, useResource } from './resource.ts'
import { useConsole } from './session.ts'

const COUNTS = '/collections/beta/counts'

/** How many members and links each collection has, by its id. */
export async function readCounts(api: Api): Promise<ReadonlyMap<string, CollectionCounts>> {
  const data = await api.read<CollectionCounts[]>(COUNTS)
  return new Map(data.map((counts) => [counts.collectionId, counts]))
}

/** The number of members of a collection; null while the service does not know it. */
export function useMemberCount(collectionId: string): Resource<number | null> {
  const { api } = useConsole()
  return useResource(collectionId, async (signal) => {
    const path = `${COUNTS}?collectionId=${collectionId}`
    const [counts] = await api.read<CollectionCounts[]>(path, signal)
    return counts?.memberCount ?? null
  })
}
