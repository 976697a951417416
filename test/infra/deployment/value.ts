import type { Location, ObjectEntry } from '../bicep/syntax.ts'

/** A resource of a deployment. */
export type DeployedResource = {
  /** The type without the version. */
  readonly type: string
  readonly name: Value
  /** A symbolic id, unique for each resource. */
  readonly id: string
  readonly at: Location
  readonly body: ObjectValue
  /** The parent, or the resource that this one extends. */
  readonly parent: DeployedResource | undefined
  readonly scope: DeployedResource | undefined
  /** False if its condition is false, and for `existing` resources. Such a resource can still be referred to. */
  readonly isDeployed: boolean
}

/** A value that only the cloud knows, represented by its expression: `guid(...)`, or a property of a resource. */
export class Opaque {
  readonly text: string
  /** The function call that returns the value, with its arguments. */
  readonly call: { readonly name: string; readonly given: readonly Value[] } | undefined

  constructor(text: string, call?: Opaque['call']) {
    this.text = text
    this.call = call
  }
}

/** A reference to a resource or a module. */
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
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]))
}

/** The value at a path of property names; undefined if there is none. */
export function valueAt(value: Value | undefined, ...path: readonly string[]): Value | undefined {
  let current = value
  for (const name of path) current = isObject(current) ? current[name] : undefined
  return current
}

const owners = new WeakMap<ObjectValue, string>()

/** Sets the path of an object, from which the paths of its missing properties are derived. */
export const nameOwner = (object: ObjectValue, path: string): void => {
  owners.set(object, path)
}

/** The value of a property that the template does not set: opaque, because the cloud may set it. */
export const unwritten = (object: ObjectValue, name: string): Opaque =>
  new Opaque(`${owners.get(object) ?? ''}.${name}`)

const entries = new WeakMap<ObjectValue, readonly Entry[]>()
type Entry = Pick<ObjectEntry, 'name' | 'at'>

/** Stores the source entries of an object, which give the lines of faults. */
export const placeObject = (object: ObjectValue, written: readonly Entry[]): void => {
  entries.set(object, written)
}

/** The source entries of an object. The last of several entries with the same name counts. */
export const entriesOf = (object: ObjectValue): readonly Entry[] => entries.get(object) ?? []

/** The place of a property in the source. */
export const placeOf = (object: ObjectValue, name: string): Location | undefined =>
  entriesOf(object).findLast((entry) => entry.name === name)?.at
