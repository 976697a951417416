import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { Api } from '../api.ts'
import { Loaded } from '../components/loaded.tsx'
import { collectionNames, namesOf } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import { type NamesById, NodeText } from './condition-text.tsx'
import { referredIds } from './referred-objects.ts'

/** A condition to read, with the names of what it names by id. */
export function NamedCondition({ condition }: { readonly condition: WireGroup }) {
  const { api } = useConsole()
  const names = useResource(JSON.stringify(condition), (signal) => readConditionNames(condition, api, signal))
  return <Loaded resource={names}>{(found) => <NodeText node={condition} names={found} />}</Loaded>
}

/**
 * The names of the objects and collections that a condition names by id. Those that do not exist any more have none.
 */
export async function readConditionNames(condition: WireGroup, api: Api, signal?: AbortSignal): Promise<NamesById> {
  const { Collection: collectionIds, ...objectIds } = Object.fromEntries(referredIds(condition))
  const [collections, ...objects] = await Promise.all([
    collectionIds === undefined ? [] : collectionNames(api),
    ...Object.entries(objectIds).map(([type, ids]) => namesOf(api, type, ids, signal)),
  ])
  return new Map([...objects.flatMap((names) => [...names]), ...collections])
}
