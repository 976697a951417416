import type { Static } from 'typebox'
import { type RefusalEntry, refusalEntry } from '../refusal.ts'
import type { CollectionMetadata, Metadata } from './collection.ts'

export const NO_METADATA: CollectionMetadata = { tags: [], attributes: {} }

/** Tags, keys and search terms are compared without case and surrounding spaces: decisions, sections 6 and 10. */
export function normalisedTerm(text: string): string {
  return text.trim().toLowerCase()
}

/** The metadata as it is stored, and every tag or key that is there twice once normalised. */
export function readMetadata(given: Static<typeof Metadata>): { metadata: CollectionMetadata; faults: RefusalEntry[] } {
  const tags = (given.tags ?? []).map(normalisedTerm)
  const entries = Object.entries(given.attributes ?? {}).map(([key, value]) => [normalisedTerm(key), value] as const)
  const faults = [
    ...repeated(tags).map((index) =>
      refusalEntry('DuplicateTag', `The tag ${tags[index]} is given twice`, `/metadata/tags/${index}`),
    ),
    ...repeated(entries.map(([key]) => key)).map((index) =>
      refusalEntry('DuplicateTag', `The attribute ${entries[index]?.[0]} is given twice`, '/metadata/attributes'),
    ),
  ]
  return { metadata: { tags, attributes: Object.fromEntries(entries) }, faults }
}

/** Places of the values that stand earlier in the list as well. */
function repeated(values: readonly string[]): number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []))
}
