export const OBJECT_TYPES = ['identity', 'orgUnit', 'relationship'] as const
export type ObjectType = (typeof OBJECT_TYPES)[number]

/** Whether a word names a type of core objects. */
export function isObjectType(word: unknown): word is ObjectType {
  return (OBJECT_TYPES as readonly unknown[]).includes(word)
}

/** Points at another core object by its id. */
export type Reference = { readonly objectId: string }

/** By the attribute's kind: a string (string, date, guid), a boolean, a list of GUIDs, one reference or several. */
export type AttributeValue = string | boolean | Reference | readonly string[] | readonly Reference[]

/** Absent attributes are unknown. Names as in `ATTRIBUTES`, and `custom/<name>`. */
export type Attributes = Readonly<Record<string, AttributeValue>>

/** A person, an org unit or a position, as merged from what the connectors say of it. */
export type CoreObject = {
  readonly id: string
  readonly objectType: ObjectType
  readonly externalId: string
  readonly attributes: Attributes
  /** The store's own time of the last write, in seconds since 1970. */
  readonly lastUpdatedS: number
  /** Soft-deleted: in no list, search or collection. */
  readonly deleted: boolean
}
