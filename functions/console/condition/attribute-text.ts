import { english, type MessageKey } from '../language/english.ts'
import { compareByLocale, t } from '../language/texts.ts'
import { dayForm, fieldForm } from './field-form.ts'

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

/** A field to read. Functions within functions stay as they are written. */
export function fieldText(field: string, id: string): string {
  const form = fieldForm(field, id)
  const attribute = attributeText(id)
  switch (form.name) {
    case 'Plain':
      return attribute
    case 'Today':
      return t('today')
    case 'ToUpper':
    case 'ToLower':
      return t(`text${form.name}`, { attribute })
    case 'AddDays':
      return t('textAddDays', { attribute, days: form.days })
    case 'Substring':
      return t('textSubstring', { attribute, start: Number(form.start) + 1, length: Number(form.length) })
    case 'Written':
      return field.replace(id, () => attribute)
  }
}

/** A value to read: days from today in words, otherwise a name, or the value itself. */
export function valueText(value: string, names: ReadonlyMap<string, string>): string {
  const form = dayForm(value)
  if (value !== '' && form.name === 'FromToday' && /^-?\d+$/.test(form.days)) {
    const days = Number(form.days)
    if (days === 0) return t('today')
    return days < 0 ? t('daysAgo', { count: -days }) : t('daysAhead', { count: days })
  }
  return names.get(value.toLowerCase()) ?? value
}

/** Technical attributes come last in lists. */
export function compareAttributes(left: string, right: string): number {
  return (
    Number(isTechnical(left)) - Number(isTechnical(right)) || compareByLocale(attributeText(left), attributeText(right))
  )
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
