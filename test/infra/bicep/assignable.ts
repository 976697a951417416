import { type Report, suggestion } from './fault.ts'
import type { Location } from './syntax.ts'
import {
  type DiscriminatedType,
  nameOf,
  type ObjectType,
  optionsOf,
  type Properties,
  type ValueType,
} from './value-type.ts'

/** The target of an assignment, for messages and for the check of required properties. */
export type Target = {
  readonly at: Location
  /** Path of the property within its declaration. */
  readonly path: string
  readonly report: Report
  /** An `existing` resource is only referred to. */
  readonly needsRequired: boolean
}

/** Reports each part of a value that does not fit the type. Unknown parts are assumed to fit. */
export function checkAssignable(value: ValueType, type: ValueType, target: Target): void {
  const here = value.at === undefined ? target : { ...target, at: value.at }
  if (value.kind === 'any' || type.kind === 'any') return
  if (value.kind === 'choice') {
    for (const option of value.options) checkAssignable(option, type, here)
    return
  }
  // Null unsets an optional property. The check of the object decides whether the property is optional.
  if (value.kind === 'null') return
  if (type.kind === 'choice') checkChoice(value, type.options, here)
  else if (type.kind === 'discriminated') checkDiscriminated(value, type, here)
  else if (type.kind === 'object' && value.kind === 'object') checkObject(value, type, here)
  else if (type.kind === 'array' && value.kind === 'array') {
    checkAssignable(value.item(), type.item(), { ...here, path: `${here.path}[]` })
  } else if (type.kind === 'string' && value.kind === 'string') checkString(value.value, type, here)
  else if (type.kind === 'int' && value.kind === 'int') checkInt(value.value, type, here)
  else if (type.kind !== kindOf(value)) reportWrongType(value, type, here)
}

const reportWrongType = (value: ValueType, type: ValueType, { at, path, report }: Target): void =>
  report(at, `${path} must be of type ${nameOf(type)}, not ${nameOf(value)}`)

function checkChoice(value: ValueType, options: readonly ValueType[], target: Target): void {
  const sameKind = options.filter((option) => kindOf(option) === kindOf(value))
  if (sameKind.length === 0) {
    reportWrongType(value, { kind: 'choice', options }, target)
    return
  }
  // If known values are listed, any other value is a misspelling, even if the list is open.
  const listed = sameKind.flatMap((option) => ('value' in option && option.value !== undefined ? [option.value] : []))
  if (listed.length === 0) {
    if (sameKind.length === 1 && sameKind[0]) checkAssignable(value, sameKind[0], target)
  } else if ('value' in value && value.value !== undefined && !listed.includes(value.value)) {
    const known = listed.map(String)
    const hint = suggestion(String(value.value), known)
    const list = known.length > 8 ? `${known.slice(0, 8).join(', ')}, ...` : known.join(', ')
    target.report(target.at, `${target.path} must be one of ${list}, not ${nameOf(value)}${hint}`)
  }
}

/** Scopes, resources and choices by discriminator are accepted where an object is expected. */
const kindOf = ({ kind }: ValueType): string =>
  ['discriminated', 'scope', 'resource'].includes(kind) ? 'object' : kind

type StringType = Extract<ValueType, { kind: 'string' }>
type IntType = Extract<ValueType, { kind: 'int' }>

function checkString(value: string | undefined, type: StringType, { at, path, report }: Target): void {
  if (value === undefined) return
  const { pattern, minLength = 0, maxLength = Number.POSITIVE_INFINITY } = type.limits ?? {}
  if (type.value !== undefined && value !== type.value) {
    report(at, `${path} must be '${type.value}', not '${value}'${suggestion(value, [type.value])}`)
  } else if (value.length < minLength || value.length > maxLength) {
    report(at, `${path} must have ${range(minLength, maxLength)} characters, not ${value.length}`)
  } else if (pattern !== undefined && !new RegExp(pattern).test(value)) {
    report(at, `${path} must match ${pattern}, which '${value}' does not`)
  }
}

/** Limits as text; either may be infinite. */
function range(from: number, to: number): string {
  if (!Number.isFinite(to)) return `at least ${from}`
  return Number.isFinite(from) ? `${from} to ${to}` : `at most ${to}`
}

function checkInt(value: number | undefined, type: IntType, { at, path, report }: Target): void {
  const { minValue = Number.NEGATIVE_INFINITY, maxValue = Number.POSITIVE_INFINITY } = type
  if (value === undefined) return
  if (type.value !== undefined && type.value !== value) report(at, `${path} must be ${type.value}, not ${value}`)
  else if (value < minValue || value > maxValue) {
    report(at, `${path} must be ${range(minValue, maxValue)}, not ${value}`)
  }
}

function checkObject(value: ObjectType, type: ObjectType, target: Target): void {
  const inside = (name: string) => (target.path === '' ? name : `${target.path}.${name}`)
  for (const [name, given] of value.properties) {
    const known = type.properties.get(name)
    const at = given.at ?? target.at
    if (known === undefined && type.others === undefined) {
      target.report(at, `${inside(name)} does not exist${suggestion(name, writable(type.properties))}`)
    } else if (known?.readOnly) target.report(at, `${inside(name)} is read-only`)
    else checkAssignable(given.type(), known?.type() ?? otherType(type), { ...target, at, path: inside(name) })
  }
  if (!target.needsRequired || value.others !== undefined) return
  for (const [name, known] of type.properties) {
    if (!known.required || known.readOnly) continue
    const given = value.properties.get(name)
    if (given === undefined) target.report(target.at, `${inside(name)} is required`)
    else if (given.type().kind === 'null') target.report(given.at ?? target.at, `${inside(name)} may not be null`)
  }
}

const otherType = (type: ObjectType): ValueType => type.others?.() ?? { kind: 'any' }

const writable = (properties: Properties): string[] =>
  [...properties].filter(([, { readOnly }]) => !readOnly).map(([name]) => name)

function checkDiscriminated(value: ValueType, type: DiscriminatedType, target: Target): void {
  if (value.kind !== 'object') {
    reportWrongType(value, type, target)
    return
  }
  const chosen = value.properties.get(type.discriminator)
  if (chosen === undefined) {
    if (value.others === undefined && target.needsRequired) {
      const known = [...type.variants.keys()].join(', ')
      target.report(target.at, `${target.path}.${type.discriminator} is required: one of ${known}`)
    }
    return
  }
  for (const option of optionsOf(chosen.type())) {
    if (option.kind !== 'string' || option.value === undefined) continue
    const variant = type.variants.get(option.value)?.()
    const at = option.at ?? chosen.at ?? target.at
    const path = `${target.path}.${type.discriminator}`
    if (variant?.kind === 'object') {
      checkObject(value, { ...variant, properties: new Map([...type.base, ...variant.properties]) }, target)
    } else {
      const hint = suggestion(option.value, type.variants.keys())
      target.report(at, `${path} must be one of ${[...type.variants.keys()].join(', ')}, not '${option.value}'${hint}`)
    }
  }
}
