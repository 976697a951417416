import { MEMBER_OF_COLLECTION } from '../../shared/domain/criteria/schema.ts'
import type { Json, JsonObject } from '../../shared/kernel/json.ts'

/** A collection by its name, as files refer to it. */
export type CollectionReference = { readonly collection: string }

export function isCollectionReference(value: Json): value is CollectionReference {
  return isObject(value) && typeof value.collection === 'string' && Object.keys(value).length === 1
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Replaces the references to collections in a condition or a join policy.
 * @param replace receives each reference with its JSON pointer
 */
export function replaceReferences(
  definition: Json,
  replace: (reference: Json, pointer: string) => Json,
  pointer = '',
): Json {
  if (Array.isArray(definition)) {
    return definition.map((item: Json, index) => replaceReferences(item, replace, `${pointer}/${index}`))
  }
  if (!isObject(definition)) return definition
  const members = Object.entries(definition).map(([name, value]): [string, Json] => {
    const at = `${pointer}/${name}`
    if (!holdsReferences(definition, name)) return [name, replaceReferences(value, replace, at)]
    if (!Array.isArray(value)) return [name, value === null ? value : replace(value, at)]
    return [name, value.map((item: Json, index) => replace(item, `${at}/${index}`))]
  })
  return Object.fromEntries(members)
}

/** The references of a condition or a join policy, in its order. */
export function referencesIn(definition: Json): Json[] {
  const references: Json[] = []
  replaceReferences(definition, (reference) => {
    references.push(reference)
    return reference
  })
  return references
}

function holdsReferences(object: JsonObject, member: string): boolean {
  if (member === 'collectionIds') return true
  if (member === 'approvers') return object.type === 'Collection'
  return member === 'value' && object.id === MEMBER_OF_COLLECTION
}
