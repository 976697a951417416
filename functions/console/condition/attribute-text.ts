import { english, type MessageKey } from '../language/english.ts'
import { t } from '../language/texts.ts'

/** Prefixes of attribute names, with the object that they are read from. */
const OBJECTS = [
  ['identity', 'objectIdentity'],
  ['relationship', 'objectRelationship'],
  ['orgUnit', 'objectOrgUnit'],
] as const satisfies readonly (readonly [string, MessageKey])[]

/** The name of an attribute to read: `relationshipTitle` is "Position: title". The name itself where it is unknown. */
export function attributeText(name: string): string {
  const whole = `attribute_${name}`
  if (isKey(whole)) return t(whole)
  const [object, rest] = partsOf(name) ?? []
  return object === undefined || rest === undefined ? name : `${t(object)}: ${restText(rest)}`
}

/** The object that has an attribute, and the attribute's name to read within it. */
export function attributeParts(name: string): readonly [object: string, text: string] {
  const [object] = partsOf(name) ?? []
  const text = attributeText(name)
  if (object === undefined) return [t('otherAttributes'), text]
  const start = `${t(object)}: `
  return [t(object), text.startsWith(start) ? text.slice(start.length) : text]
}

function partsOf(name: string): readonly [object: MessageKey, rest: string] | undefined {
  for (const [prefix, object] of OBJECTS) {
    const rest = name.slice(prefix.length)
    if (name.startsWith(prefix) && /^[A-Z]/.test(rest)) return [object, rest]
  }
  return undefined
}

/** The name of an attribute of a core object to read: `displayName` is "display name". */
export function coreAttributeText(name: string): string {
  return restText(name.charAt(0).toUpperCase() + name.slice(1))
}

/** A field to read: functions stay as they are written. */
export function fieldText(field: string, id: string): string {
  return field.replace(id, () => attributeText(id))
}

/** Technical attributes come last in lists. */
export function compareAttributes(one: string, other: string): number {
  return Number(isTechnical(one)) - Number(isTechnical(other)) || attributeText(one).localeCompare(attributeText(other))
}

const isTechnical = (name: string): boolean => /(Anchor\d|JoinScope|ExternalId|OnPremises\w+)$/.test(name)

function restText(rest: string): string {
  const key = `attribute_${rest.charAt(0).toLowerCase()}${rest.slice(1)}`
  if (isKey(key)) return t(key)
  if (rest.startsWith('Custom/')) return rest.slice('Custom/'.length).replaceAll('_', ' ')
  return rest.replace(/([a-z])(?=[A-Z0-9])/g, '$1 ').toLowerCase()
}

function isKey(text: string): text is MessageKey {
  return Object.hasOwn(english, text)
}
