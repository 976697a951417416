import { type Static, Type } from 'typebox'
import { Closed, Described } from '../../kernel/schema.ts'
import type { Page, PageRange } from '../../kernel/versioned.ts'
import { type ConnectorStore, requireConnector } from './connector.ts'
import {
  type ConnectorObject,
  type DeriveId,
  ExternalId,
  ObjectTypeName,
  ownCoreObjectId,
  REFERENCES,
} from './connector-object.ts'
import type { MergedCoreObject } from './merged-core-object.ts'
import type { UnresolvedReference } from './unresolved-reference.ts'

/** An unresolved reference with its place in the data of the connector object. */
export type PlacedReference = UnresolvedReference & { readonly pointer: string }

type Target = { readonly coreObjectId: string | undefined; readonly isDeleted: boolean }

/** Returns the references of a connector object that lead to no object. */
export function unresolvedReferences(
  { connectorId, objectType, externalId, data, references }: ConnectorObject,
  targetOf: (connectorObjectId: string) => Target,
): PlacedReference[] {
  return REFERENCES.filter(({ of }) => of === objectType).flatMap(({ name, isList }) => {
    const ids = [references[name] ?? []].flat()
    const named = [data[name] ?? []].flat() as readonly { readonly externalId: string }[]
    return ids.flatMap((id, index): PlacedReference[] => {
      const { coreObjectId, isDeleted } = targetOf(id)
      if (coreObjectId !== undefined) return []
      const reference = named[index]?.externalId ?? ''
      const own = { connectorId, externalId, attribute: name, reference, ...(isDeleted && { isDeleted }) }
      const expected = objectType === 'relationship' && name === 'identity' ? { expectedId: id } : {}
      return [
        { ...own, ...expected, pointer: isList ? `/data/${name}/${index}` : `/data/${name}` },
      ] as PlacedReference[]
    })
  })
}

/** Unresolved references stored with a core object. An org unit can have 5,000 deputies. */
const MAX_STORED_COUNT = 200

/**
 * Returns the object with its unresolved references. Whether one was to a deleted object stays known after that object
 * has expired.
 * @param found Those of its contributions.
 */
export function withUnresolved(
  object: MergedCoreObject,
  before: MergedCoreObject | undefined,
  found: readonly PlacedReference[],
  derive: DeriveId,
): MergedCoreObject {
  if (object.deleted || found.length === 0) return object
  const deleted = new Set(
    (before?.unresolved ?? []).flatMap((reference) => (reference.isDeleted ? [keyOf(reference)] : [])),
  )
  const unresolved = found.slice(0, MAX_STORED_COUNT).map(({ pointer: _pointer, expectedId, ...reference }) => ({
    ...reference,
    ...(deleted.has(keyOf(reference)) && { isDeleted: true as const }),
    ...(expectedId !== undefined && { expectedId: ownCoreObjectId(expectedId, derive) }),
  }))
  return { ...object, unresolved }
}

const keyOf = ({ connectorId, externalId, attribute, reference }: UnresolvedReference): string =>
  JSON.stringify([connectorId, externalId, attribute, reference])

/** The number of unresolved references of a core object by connector. */
export function unresolvedCounts(object: MergedCoreObject | undefined): ReadonlyMap<string, number> {
  const references = object === undefined || object.deleted ? [] : (object.unresolved ?? [])
  return new Map(
    [...Map.groupBy(references, ({ connectorId }) => connectorId)].map(
      ([id, ofConnector]) => [id, ofConnector.length] as const,
    ),
  )
}

/** A reference that leads nowhere, as the API returns it. */
export const ListedReference = Closed({
  objectType: ObjectTypeName,
  externalId: Described(ExternalId, 'Of the object that has the reference.'),
  attribute: Type.String(),
  reference: Described(Type.String(), 'The external id that the reference names.'),
})
export type ListedReference = Static<typeof ListedReference>

/** Finds what was stored with core objects. */
export interface UnresolvedReferenceReader {
  /** The next live core objects with unresolved references of a connector, by id. */
  withUnresolved(
    tenantId: string,
    connectorId: string,
    after: string | undefined,
    size: number,
  ): Promise<Page<MergedCoreObject>>
  /** The number of unresolved references of a connector. */
  countUnresolved(tenantId: string, connectorId: string): Promise<number>
}

/**
 * Returns a page of the references of a connector's objects that lead to no object, by core object.
 * @param size Core objects in a page: most have one such reference.
 * @throws Refusal `ConnectorNotFound`.
 */
export async function listUnresolved(
  tenantId: string,
  connectorId: string,
  { after, size }: PageRange,
  deps: { readonly connectors: ConnectorStore; readonly coreObjects: UnresolvedReferenceReader },
): Promise<Page<ListedReference>> {
  await requireConnector(tenantId, connectorId, deps.connectors)
  const position = positionOf(after)
  // The object in which the last page ended is read again, besides those of this page.
  const [from, count] = position === undefined ? [undefined, size] : [before(position.id), size + 1]
  const page = await deps.coreObjects.withUnresolved(tenantId, connectorId, from, count)
  const items: ListedReference[] = []
  for (const object of page.items) {
    const own = (object.unresolved ?? []).filter((reference) => reference.connectorId === connectorId)
    for (const [index, { externalId, attribute, reference }] of own.entries()) {
      if (object.id === position?.id && index < position.listedCount) continue
      if (items.length === size) return { items, continueAfter: `${object.id} ${index}` }
      items.push({ objectType: object.objectType, externalId, attribute, reference })
    }
  }
  const { continueAfter } = page
  return continueAfter === undefined ? { items } : { items, continueAfter: `${continueAfter} ${MAX_STORED_COUNT}` }
}

/** Positions name a core object and how many of its references were listed: `<id> <count>`. */
function positionOf(after: string | undefined): { readonly id: string; readonly listedCount: number } | undefined {
  const [id, count] = after?.split(' ') ?? []
  return id === undefined ? undefined : { id, listedCount: Number(count) }
}

/** A text that is less than the id, and greater than all lower ids. */
const before = (id: string): string => `${id.slice(0, -1)}${String.fromCharCode(id.charCodeAt(id.length - 1) - 1)}~`
