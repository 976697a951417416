import type { AzureTypes, StoredProperties, StoredType } from './azure-types.ts'
import { suggestion } from './fault.ts'
import { isObject, Opaque, Reference, textOfValue, type Value, valueAt } from './value.ts'

/** Bits of a stored property's flags. */
const REQUIRED = 1
const READ_ONLY = 2

/** Receives one message for each part of a value that does not have its type. */
type Fault = (message: string) => void

/** Whether the deployment knows the whole text. Parameters stand in angle brackets, and ids of resources begin so. */
const isKnown = (text: string): boolean => !/<\w+>|\/providers\//.test(text)

/** Checks a value against a type of Azure. Values that only the cloud knows have every type. */
export function checkValue(value: Value, type: StoredType, path: string, types: AzureTypes, fault: Fault): void {
  // Null unsets an optional property.
  if (value === null || value instanceof Opaque || value instanceof Reference || type.$type === 'AnyType') return
  switch (type.$type) {
    case 'UnionType':
      checkUnion(value, type.elements.map(types.at), path, types, fault)
      break
    case 'ObjectType': {
      const others = type.additionalProperties && types.at(type.additionalProperties)
      checkProperties(value, type.properties, others, path, types, fault)
      break
    }
    case 'DiscriminatedObjectType':
      checkDiscriminated(value, type, path, types, fault)
      break
    case 'ArrayType': {
      const items: readonly Value[] | undefined = Array.isArray(value) ? value : undefined
      if (items === undefined) fault(`${path} must be of type array, not ${textOfValue(value)}`)
      for (const item of items ?? []) checkValue(item, types.at(type.itemType), `${path}[]`, types, fault)
      break
    }
    default:
      checkScalar(value, type, path, fault)
  }
}

function checkScalar(value: Value, type: StoredType, path: string, fault: Fault): void {
  const found = textOfValue(value)
  if (type.$type === 'BooleanType' && typeof value !== 'boolean') fault(`${path} must be of type bool, not '${found}'`)
  if (type.$type === 'IntegerType') {
    const { minValue = Number.NEGATIVE_INFINITY, maxValue = Number.POSITIVE_INFINITY } = type
    if (typeof value !== 'number') fault(`${path} must be of type int, not '${found}'`)
    else if (value < minValue || value > maxValue) fault(`${path} must be ${minValue} to ${maxValue}, not ${value}`)
  }
  if (type.$type !== 'StringType' && type.$type !== 'StringLiteralType') return
  if (typeof value !== 'string') fault(`${path} must be of type string, not ${found}`)
  else if (!isKnown(value)) return
  else if (type.$type === 'StringLiteralType') {
    if (value !== type.value) fault(`${path} must be '${type.value}', not '${value}'${suggestion(value, [type.value])}`)
  } else {
    const { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = type
    const isFitting = pattern === undefined || new RegExp(pattern).test(value)
    if (!isFitting) fault(`${path} must match ${pattern}, which '${value}' does not`)
    if (value.length < minLength || value.length > maxLength) {
      fault(`${path} must have ${minLength} to ${maxLength} characters, not ${value.length}`)
    }
  }
}

/** A value that is not among the listed ones counts as misspelled, even if the list is open. */
function checkUnion(value: Value, options: readonly StoredType[], path: string, types: AzureTypes, fault: Fault): void {
  const listed = options.flatMap((option) => (option.$type === 'StringLiteralType' ? [option.value] : []))
  if (typeof value === 'string' && listed.length > 0) {
    if (!isKnown(value) || listed.includes(value)) return
    fault(`${path} must be one of ${listed.slice(0, 8).join(', ')}, not '${value}'${suggestion(value, listed)}`)
    return
  }
  const faults = options.map((option) => {
    const found: string[] = []
    checkValue(value, option, path, types, (message) => found.push(message))
    return found
  })
  const isOneOf = faults.some((found) => found.length === 0)
  if (!isOneOf) fault(faults[0]?.[0] ?? `${path} must have another type`)
}

function checkProperties(
  value: Value,
  properties: StoredProperties,
  others: StoredType | undefined,
  path: string,
  types: AzureTypes,
  fault: Fault,
): void {
  if (!isObject(value)) {
    fault(`${path} must be of type object, not ${textOfValue(value)}`)
    return
  }
  const inside = (name: string) => (path === '' ? name : `${path}.${name}`)
  for (const [name, member] of Object.entries(value)) {
    const property = properties[name]
    const type = property === undefined ? others : types.at(property.type)
    if (type === undefined) fault(`${inside(name)} does not exist${suggestion(name, Object.keys(properties))}`)
    else if (property !== undefined && (property.flags & READ_ONLY) !== 0) fault(`${inside(name)} is read-only`)
    else checkValue(member, type, inside(name), types, fault)
  }
  for (const [name, { flags }] of Object.entries(properties)) {
    if ((flags & REQUIRED) === 0 || (flags & READ_ONLY) !== 0) continue
    if (value[name] === undefined) fault(`${inside(name)} is required`)
    else if (value[name] === null) fault(`${inside(name)} may not be null`)
  }
}

function checkDiscriminated(
  value: Value,
  type: Extract<StoredType, { $type: 'DiscriminatedObjectType' }>,
  path: string,
  types: AzureTypes,
  fault: Fault,
): void {
  const { discriminator, baseProperties, elements } = type
  const chosen = textOfValue(valueAt(value, discriminator) ?? '')
  const element = elements[chosen] && types.at(elements[chosen])
  if (element?.$type !== 'ObjectType') {
    const known = Object.keys(elements)
    fault(`${path}.${discriminator} must be one of ${known.join(', ')}, not '${chosen}'${suggestion(chosen, known)}`)
    return
  }
  const others = element.additionalProperties && types.at(element.additionalProperties)
  checkProperties(value, { ...baseProperties, ...element.properties }, others, path, types, fault)
}
