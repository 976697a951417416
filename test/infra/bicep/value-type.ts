import type { Location } from './syntax.ts'

/**
 * A property of an object type or of an object. Types can refer to each other in circles, so they are resolved lazily.
 */
export type Property = {
  readonly type: () => ValueType
  /** For a type: the property must be set. For a value: the property is always set. */
  readonly required: boolean
  readonly readOnly: boolean
  readonly at?: Location | undefined
}
export type Properties = ReadonlyMap<string, Property>

/**
 * The type of a value, or the type that it must have: resource types of Azure, declared types of parameters, and
 * inferred types of expressions. `value` is set for literals. `at` is the place of the expression whose type was
 * inferred.
 */
export type ValueType = { readonly at?: Location } & (
  | { readonly kind: 'any' }
  | { readonly kind: 'null' }
  | { readonly kind: 'string'; readonly value?: string; readonly limits?: StringLimits }
  | { readonly kind: 'int'; readonly value?: number; readonly minValue?: number; readonly maxValue?: number }
  | { readonly kind: 'bool'; readonly value?: boolean }
  | { readonly kind: 'array'; readonly item: () => ValueType }
  | ObjectType
  | DiscriminatedType
  | { readonly kind: 'choice'; readonly options: readonly ValueType[] }
  | { readonly kind: 'resource'; readonly type: string; readonly body: ValueType; readonly children: Properties }
  | { readonly kind: 'module'; readonly outputs: ObjectType }
  | { readonly kind: 'scope'; readonly properties: ObjectType }
)

export type StringLimits = {
  readonly pattern?: string | undefined
  readonly minLength?: number | undefined
  readonly maxLength?: number | undefined
}
export type ObjectType = {
  readonly kind: 'object'
  readonly at?: Location
  readonly properties: Properties
  /** The type of all other properties; undefined if none are allowed. */
  readonly others?: (() => ValueType) | undefined
}
/** An object whose allowed properties depend on the value of one of them. */
export type DiscriminatedType = {
  readonly kind: 'discriminated'
  readonly at?: Location
  readonly discriminator: string
  readonly base: Properties
  readonly variants: ReadonlyMap<string, () => ValueType>
}

export const ANY: ValueType = { kind: 'any' }
export const STRING: ValueType = { kind: 'string' }
export const INT: ValueType = { kind: 'int' }
export const BOOL: ValueType = { kind: 'bool' }

export const arrayOf = (item: ValueType): ValueType => ({ kind: 'array', item: () => item })

/** The type of an object with exactly these properties. */
export const objectOf = (members: Readonly<Record<string, ValueType>>): ObjectType => ({
  kind: 'object',
  properties: new Map(Object.entries(members).map(([name, type]) => [name, present(type)])),
})

/** An object with unknown properties. */
export const OPEN_OBJECT: ObjectType = { kind: 'object', properties: new Map(), others: () => ANY }

export const present = (type: ValueType): Property => ({ type: () => type, required: true, readOnly: false })

/** One of several types. Nested choices are flattened, and duplicate plain types are removed. */
export function choiceOf(options: readonly ValueType[]): ValueType {
  const flat = options.flatMap((option) => (option.kind === 'choice' ? option.options : [option]))
  if (flat.some((option) => option.kind === 'any')) return ANY
  const [first] = flat
  return first !== undefined && flat.length === 1 ? first : { kind: 'choice', options: flat }
}

/** The alternatives of a type; the type itself if it is not a choice. */
export const optionsOf = (type: ValueType): readonly ValueType[] => (type.kind === 'choice' ? type.options : [type])

/** The properties of a type with members, and the type of its other properties. */
export function membersOf(type: ValueType): Omit<ObjectType, 'kind'> | undefined {
  switch (type.kind) {
    case 'object':
      return type
    case 'discriminated': {
      const variants = [...type.variants.values()].map((variant) => membersOf(variant())?.properties ?? [])
      return { properties: new Map([type.base, ...variants].flatMap((each) => [...each])) }
    }
    case 'resource': {
      const body = membersOf(type.body)
      return body ?? { properties: new Map(), others: () => ANY }
    }
    case 'module':
      return objectOf({ name: STRING, outputs: type.outputs })
    case 'scope':
      return type.properties
    default:
      return undefined
  }
}

/** The name of a type in messages. */
export function nameOf(type: ValueType): string {
  switch (type.kind) {
    case 'string':
      return type.value === undefined ? 'string' : `'${type.value}'`
    case 'int':
    case 'bool':
      return type.value === undefined ? type.kind : String(type.value)
    case 'choice':
      return type.options.map(nameOf).join(' | ')
    case 'discriminated':
      return 'object'
    default:
      return type.kind
  }
}
