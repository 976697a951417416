import type { CollectionDto, CriteriaCollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { CollectionVersion } from '../../../shared/domain/insight/collection-versions.ts'
import type { Api } from '../api.ts'
import type { ConditionChoices } from '../condition/condition-choices.ts'
import { readConditionNames } from '../condition/named-condition.tsx'

const CRITERIA = '/collections-criteria/beta'

/** A stored criteria collection and its version; neither for a new one. */
export type StoredCriteria = {
  readonly collection: CriteriaCollectionDto | undefined
  readonly etag: string | undefined
}
/** What the editor starts with: the collection, and what its condition can be made of. */
type EditorStart = { readonly stored: StoredCriteria; readonly choices: ConditionChoices }

export const criteriaPath = ({ collection }: StoredCriteria): string =>
  collection === undefined ? CRITERIA : `${CRITERIA}/${collection.id}`

/** Saves a stored collection only if the effect is still the planned one. @returns The id of the collection. */
export async function saveCriteria(
  { collection, etag }: StoredCriteria,
  body: object,
  planId: string,
  api: Api,
): Promise<string> {
  if (collection === undefined) return api.create<string>(CRITERIA, body)
  const headers = { 'if-plan': planId }
  await api.send('PUT', `${CRITERIA}/${collection.id}`, { body, ifMatch: etag, headers })
  return collection.id
}

type TenantSchemas = { readonly identitySchema: Readonly<Record<string, string>> }

/** @param former An earlier version that is to be restored. */
export async function readEditorStart(
  id: string | undefined,
  former: CollectionVersion | undefined,
  api: Api,
  signal: AbortSignal,
): Promise<EditorStart> {
  const [schemas, collections, stored] = await Promise.all([
    api.send<TenantSchemas>('GET', `${CRITERIA}/tenant-schemas`),
    api.all<CollectionDto>('/collections/beta'),
    id === undefined ? { collection: undefined, etag: undefined } : readStored(id, api),
  ])
  const condition = (former ?? stored.collection)?.condition as WireGroup | undefined
  const names = condition === undefined ? [] : await readConditionNames(condition, api, signal)
  return {
    stored,
    choices: {
      types: schemas.data.identitySchema,
      collections: collections.filter((candidate) => candidate.id !== id),
      names: new Map(names),
    },
  }
}

/** What another person has saved, with the names of what it names by id. */
export async function readTheirCriteria(id: string, { names }: ConditionChoices, api: Api): Promise<StoredCriteria> {
  const stored = await readStored(id, api)
  const condition = stored.collection?.condition as WireGroup
  const named = await readConditionNames(condition, api)
  for (const [namedId, name] of named) names.set(namedId, name)
  return stored
}

async function readStored(id: string, api: Api): Promise<StoredCriteria> {
  const { data, etag } = await api.send<CriteriaCollectionDto>('GET', `${CRITERIA}/${id}`)
  return { collection: data, etag }
}
