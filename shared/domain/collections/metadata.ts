import type { Static } from 'typebox'
import { type RefusalEntry, refusalEntry } from '../../kernel/refusals.ts'
import { characterCount } from '../../kernel/schema.ts'
import { type CollectionMetadata, type Metadata, TAG_LENGTH_LIMIT } from './collection.ts'

export const NO_METADATA: CollectionMetadata = { tags: [], attributes: {} }

/** Tags, keys and search terms are compared without case and surrounding spaces: decisions, sections 6 and 10. */
export function normalisedTerm(text: string): string {
  return text.trim().toLowerCase()
}

export type GivenMetadata = {
  /** As it is stored. What is left out is not there, and so keeps its value: statement, "Collection", rule 1. */
  readonly metadata: Partial<CollectionMetadata>
  /** Every tag or key that is there twice once normalised. */
  readonly faults: readonly RefusalEntry[]
}

/** The metadata of a body, in the form in which it is stored. */
export function readMetadata(given: Static<typeof Metadata> = {}): GivenMetadata {
  const tags = given.tags?.map(normalisedTerm)
  const attributes =
    given.attributes && Object.entries(given.attributes).map(([key, value]) => [normalisedTerm(key), value] as const)
  const metadata = { ...(tags && { tags }), ...(attributes && { attributes: Object.fromEntries(attributes) }) }
  const keys = attributes?.map(([key]) => key) ?? []
  return { metadata, faults: [...tooLong(tags ?? [], keys), ...repetitions(tags ?? [], keys)] }
}

/** A few capitals, like İ, are two characters in lower case: what is stored has to be fit to be sent back. */
function tooLong(tags: readonly string[], keys: readonly string[]): RefusalEntry[] {
  const isTooLong = (term: string) => characterCount(term) > TAG_LENGTH_LIMIT
  const fault = (pointer: string) =>
    refusalEntry('InvalidLength', `In lower case it has more than ${TAG_LENGTH_LIMIT} characters`, pointer)
  return [
    ...tags.flatMap((tag, index) => (isTooLong(tag) ? [fault(`/metadata/tags/${index}`)] : [])),
    ...keys.filter(isTooLong).map(() => fault('/metadata/attributes')),
  ]
}

function repetitions(tags: readonly string[], keys: readonly string[]): RefusalEntry[] {
  return [
    ...repeated(tags).map((index) =>
      refusalEntry('DuplicateTag', `The tag ${tags[index]} is given twice`, `/metadata/tags/${index}`),
    ),
    ...repeated(keys).map((index) =>
      refusalEntry('DuplicateTag', `The attribute ${keys[index]} is given twice`, '/metadata/attributes'),
    ),
  ]
}

/** Places of the values that stand earlier in the list as well. */
function repeated(values: readonly string[]): number[] {
  return values.flatMap((value, index) => (values.indexOf(value) < index ? [index] : []))
}
