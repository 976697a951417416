import { type Static, Type } from 'typebox'
import { type RefusalEntry, refusalEntry, throwIfRefused } from '../../kernel/refusals.ts'
import { Closed, Described, OneOf } from '../../kernel/schema.ts'
import { schemaName } from '../core/attribute-names.ts'
import { CUSTOM_ATTRIBUTE_PREFIX, OBJECT_TYPES } from '../core/core-object.ts'
import { CUSTOM_TYPES, type CustomTypes } from '../core/custom-types.ts'

/** As many as a tenant has custom attributes. */
const MAX_TYPES = 600

const AttributeType = Closed({
  objectType: OneOf(OBJECT_TYPES),
  name: Type.String({
    maxLength: 100,
    pattern: '^[\\p{L}\\p{N}][\\p{L}\\p{N} _.-]{0,99}$',
    description: 'What follows `custom/`.',
  }),
  type: OneOf(CUSTOM_TYPES),
})

export const AttributeTypes = Described(
  Type.Array(AttributeType, { maxItems: MAX_TYPES }),
  'The types of custom attributes, each at most once; an attribute without an entry is a `String`. A type belongs to the ' +
    'tenant and the object type: connectors without an entry follow it, and one that disagrees with another connector is ' +
    'refused with `AttributeTypeConflict`. An `Integer` has at most 16 digits; a `DateTime` is an ISO 8601 date, or date ' +
    'and time; a `StringList` has at most 100 texts of 400 characters each. Connectors send values as JSON of the type, or ' +
    'as a string that reads as it; an item with another value fails. Values are returned as JSON of the type.\n\n' +
    'A change of a type reads the values that exist by the new type, within a minute. It is refused with ' +
    '`AttributeValuesDoNotFit`, with their number and three examples, when some do not read as the new type, and with ' +
    '`ConditionsDoNotFit`, with the names of the collections, when a condition compares the attribute in a way that the ' +
    'new type does not have, or with a value that the new type would compare as another one: a day or, by order, a ' +
    'number or a boolean as a text. A text reads as a list of one text, and such a list as a text. Until the change takes ' +
    'effect, all members stay as they are. A value that is written at the same time, or that another source overrides, is ' +
    'not looked at: where it does not read as the new type, it counts as absent.',
)
export type AttributeTypes = Static<typeof AttributeTypes>

/** A connector, as far as types are concerned. */
type TypedConnector = { readonly id: string; readonly name: string; readonly attributeTypes: AttributeTypes }

/** The types of a tenant's custom attributes. @param connectors Oldest first: should two disagree, the older one decides. */
export function customTypesOf(connectors: readonly Pick<TypedConnector, 'attributeTypes'>[]): CustomTypes {
  return new Map(attributeTypesOf(connectors).map((entry) => [nameOf(entry), entry.type]))
}

/** The types of a tenant's custom attributes as a list, each attribute once. @param connectors Oldest first. */
export function attributeTypesOf(connectors: readonly Pick<TypedConnector, 'attributeTypes'>[]): AttributeTypes {
  const entries = new Map<string, AttributeTypes[number]>()
  for (const { attributeTypes } of connectors) {
    for (const entry of attributeTypes) if (!entries.has(nameOf(entry))) entries.set(nameOf(entry), entry)
  }
  return [...entries.values()]
}

const nameOf = ({ objectType, name }: AttributeTypes[number]): string =>
  schemaName(objectType, CUSTOM_ATTRIBUTE_PREFIX + name)

/**
 * Refuses types that contradict each other or those of another connector.
 * @param others The other connectors of the tenant.
 * @throws Refusal `InvalidValue`, `AttributeTypeConflict`.
 */
export function refuseContradictions(given: AttributeTypes, others: readonly TypedConnector[]): void {
  throwIfRefused(repetitions(given))
  const conflicts = given.flatMap((entry, index) => {
    const other = others.find(({ attributeTypes }) =>
      attributeTypes.some((known) => nameOf(known) === nameOf(entry) && known.type !== entry.type),
    )
    return other === undefined ? [] : [conflict(entry, index, other)]
  })
  throwIfRefused(conflicts)
}

function repetitions(given: AttributeTypes): RefusalEntry[] {
  const seen = new Set<string>()
  return given.flatMap((entry, index) => {
    const isRepeated = seen.has(nameOf(entry))
    seen.add(nameOf(entry))
    const message = `${entry.objectType} ${entry.name} has a type already`
    return isRepeated ? [refusalEntry('InvalidValue', message, `/attributeTypes/${index}`)] : []
  })
}

function conflict(entry: AttributeTypes[number], index: number, { id, name, attributeTypes }: TypedConnector) {
  const type = attributeTypes.find((known) => nameOf(known) === nameOf(entry))?.type
  const message = `${entry.objectType} ${entry.name} is of type ${type} in connector ${name} (${id})`
  return refusalEntry('AttributeTypeConflict', message, `/attributeTypes/${index}`)
}
