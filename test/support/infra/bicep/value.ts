import type { StoredType } from './azure-types.ts'
import type { Location } from './nodes.ts'

/** A resource of a deployment. */
export type DeployedResource = {
  /** The type without the version. */
  readonly type: string
  readonly name: Value
  /** A symbolic id, unique for each resource. */
  readonly id: string
  readonly at: Location
  readonly body: ObjectValue
  readonly parent: DeployedResource | undefined
  /** The resource that this one extends. */
  readonly scope: DeployedResource | undefined
  /** The properties of its type, if the type data has it. */
  readonly properties: StoredType | undefined
}

/** A value that only the cloud knows, represented by its expression: `guid(...)`, or a property of a resource. */
export class Opaque {
  readonly text: string
  /** The function call that returns the value, with its arguments. */
  readonly call: { readonly name: string; readonly arguments: readonly Value[] } | undefined
  /** The type of a property that the cloud sets. */
  readonly type: StoredType | undefined

  constructor(text: string, known: Partial<Pick<Opaque, 'call' | 'type'>> = {}) {
    this.text = text
    this.call = known.call
    this.type = known.type
  }
}

/** A reference to a resource, or to a module with its outputs. */
export class Reference {
  readonly resource: DeployedResource | undefined
  readonly outputs: ObjectValue

  constructor(resource: DeployedResource | undefined, outputs: ObjectValue) {
    this.resource = resource
    this.outputs = outputs
  }
}

export type ObjectValue = { readonly [name: string]: Value }
export type Value = string | number | boolean | null | readonly Value[] | ObjectValue | Opaque | Reference

export const isObject = (value: Value | undefined): value is ObjectValue =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof Opaque) &&
  !(value instanceof Reference)

/** A value as interpolated text. */
export function textOfValue(value: Value): string {
  if (value instanceof Opaque) return value.text
  if (value instanceof Reference) return value.resource?.id ?? '<module>'
  return typeof value === 'object' ? JSON.stringify(plain(value)) : String(value)
}

/** A value as plain JSON, with opaque parts as text. */
export function plain(value: Value): unknown {
  if (value instanceof Opaque || value instanceof Reference) return textOfValue(value)
  if (Array.isArray(value)) return value.map(plain)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]))
}

/** The value at a path of property names; undefined if there is none. */
export function valueAt(value: Value | undefined, ...path: readonly string[]): Value | undefined {
  let current = value
  for (const name of path) current = isObject(current) ? current[name] : undefined
  return current
}
