import type { Location, ObjectEntry } from '../bicep/syntax.ts'

/** A resource as it would be deployed. */
export type DeployedResource = {
  /** Without the version. */
  readonly type: string
  readonly name: Value
  /** Symbolic, but equal for the same resource and different for different ones. */
  readonly id: string
  readonly at: Location
  readonly body: ObjectValue
  /** What it is a child or an extension of. */
  readonly parent: DeployedResource | undefined
  readonly scope: DeployedResource | undefined
  /** False where its condition is: it can be referred to and is not there. `existing` ones are not deployed either. */
  readonly isDeployed: boolean
}

/** A value that only the cloud knows, told as the expression it is of: `guid(...)`, a property of a resource. */
export class Opaque {
  readonly text: string
  /** The function it is the result of, and what that was given. */
  readonly call: { readonly name: string; readonly given: readonly Value[] } | undefined

  constructor(text: string, call?: Opaque['call']) {
    this.text = text
    this.call = call
  }
}

/** A resource or a module as it is referred to. */
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

/** A value as text, where it is put into a string. */
export function textOfValue(value: Value): string {
  if (value instanceof Opaque) return value.text
  if (value instanceof Reference) return value.resource?.id ?? '<module>'
  return typeof value === 'object' ? JSON.stringify(plain(value)) : String(value)
}

/** A value as JSON has it, opaque parts as their text. */
export function plain(value: Value): unknown {
  if (value instanceof Opaque || value instanceof Reference) return textOfValue(value)
  if (Array.isArray(value)) return value.map(plain)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]))
}

/** The value at a path of property names; undefined where there is nothing. */
export function valueAt(value: Value | undefined, ...path: readonly string[]): Value | undefined {
  let current = value
  for (const name of path) current = isObject(current) ? current[name] : undefined
  return current
}

const owners = new WeakMap<ObjectValue, string>()

/** Says what an object belongs to, so that what it does not hold can be told as a path. */
export const nameOwner = (object: ObjectValue, path: string): void => {
  owners.set(object, path)
}

/** A property that is not written down: the cloud may know it. */
export const unwritten = (object: ObjectValue, name: string): Opaque =>
  new Opaque(`${owners.get(object) ?? ''}.${name}`)

const entries = new WeakMap<ObjectValue, readonly Entry[]>()
type Entry = Pick<ObjectEntry, 'name' | 'at'>

/** Remembers how an object is written, so that faults can say where. */
export const placeObject = (object: ObjectValue, written: readonly Entry[]): void => {
  entries.set(object, written)
}

/** How an object is written; the last of two entries of a name counts. */
export const entriesOf = (object: ObjectValue): readonly Entry[] => entries.get(object) ?? []

/** Where a property of an object is written. */
export const placeOf = (object: ObjectValue, name: string): Location | undefined =>
  entriesOf(object).findLast((entry) => entry.name === name)?.at
