import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { ANY, BOOL, choiceOf, type Properties, STRING, type ValueType } from './value-type.ts'

type Reference = { readonly $ref: number }
type StoredProperties = Readonly<Record<string, { readonly type: Reference; readonly flags: number }>>
type StoredType =
  | { readonly $type: 'AnyType' | 'BooleanType' }
  | { readonly $type: 'ResourceType'; readonly name: string; readonly body: Reference; readonly writableScopes: number }
  | { readonly $type: 'StringLiteralType'; readonly value: string }
  | { readonly $type: 'StringType'; pattern?: string; minLength?: number; maxLength?: number }
  | { readonly $type: 'IntegerType'; readonly minValue?: number; readonly maxValue?: number }
  | { readonly $type: 'ArrayType'; readonly itemType: Reference }
  | { readonly $type: 'UnionType'; readonly elements: readonly Reference[] }
  | { readonly $type: 'ObjectType'; properties: StoredProperties; additionalProperties?: Reference }
  | {
      readonly $type: 'DiscriminatedObjectType'
      readonly discriminator: string
      readonly baseProperties: StoredProperties
      readonly elements: Readonly<Record<string, Reference>>
    }
type Stored = { readonly types: readonly StoredType[]; readonly resources: Readonly<Record<string, number>> }

/** Bits of a stored property's flags. */
const REQUIRED = 1
const READ_ONLY = 2

/** Bits of the scopes a resource may be deployed to. */
const SCOPE_BITS: Record<string, number> = { tenant: 1, managementGroup: 2, subscription: 4, resourceGroup: 8 }

export type AzureResourceType = {
  readonly body: ValueType
  /** Whether it can be deployed to that kind of scope. */
  readonly canBeIn: (scope: string) => boolean
}

/** The resource types of Azure that the Bicep compiler uses. */
export type AzureTypes = {
  /** `<type>@<version>`; the type is compared without regard to case. */
  readonly find: (typeAndVersion: string) => AzureResourceType | undefined
  /** Every `<type>@<version>`. */
  readonly names: readonly string[]
}

/** Reads the type data of `test/infra/azure-types`. */
export function readAzureTypes(path: string): AzureTypes {
  return azureTypes(JSON.parse(gunzipSync(readFileSync(path)).toString()) as Stored)
}

/** Types as they are stored: `types` refer to each other by index, `resources` to them by name and version. */
export function azureTypes({ types, resources }: Stored): AzureTypes {
  const byName = new Map(Object.entries(resources).map(([name, index]) => [name.toLowerCase(), index]))
  const read = typeReader(types)
  return {
    names: Object.keys(resources),
    find: (name) => {
      const stored = types[byName.get(name.toLowerCase()) ?? -1]
      if (stored?.$type !== 'ResourceType') return undefined
      return {
        body: read(stored.body),
        canBeIn: (scope) => (stored.writableScopes & (SCOPE_BITS[scope] ?? 0)) !== 0 || stored.writableScopes === 0,
      }
    },
  }
}

/** Reads types by index. Each becomes one object, so that circular references work. */
function typeReader(types: readonly StoredType[]): (reference: Reference) => ValueType {
  const known = new Map<number, ValueType>()
  const read = ({ $ref }: Reference): ValueType => {
    const found = known.get($ref) ?? convert(types[$ref])
    known.set($ref, found)
    return found
  }
  const properties = (stored: StoredProperties): Properties =>
    new Map(
      Object.entries(stored).map(([name, { type, flags }]) => [
        name,
        { type: () => read(type), required: (flags & REQUIRED) !== 0, readOnly: (flags & READ_ONLY) !== 0 },
      ]),
    )
  const convert = (stored: StoredType | undefined): ValueType => {
    switch (stored?.$type) {
      case 'BooleanType':
        return BOOL
      case 'StringLiteralType':
        return { kind: 'string', value: stored.value }
      case 'StringType': {
        const { pattern, minLength, maxLength } = stored
        return { ...STRING, limits: { pattern, minLength, maxLength } } as ValueType
      }
      case 'IntegerType':
        return { ...stored, kind: 'int' }
      case 'ArrayType':
        return { kind: 'array', item: () => read(stored.itemType) }
      case 'UnionType':
        return choiceOf(stored.elements.map(read))
      case 'ObjectType': {
        const others = stored.additionalProperties
        return {
          kind: 'object',
          properties: properties(stored.properties),
          others: others === undefined ? undefined : () => read(others),
        }
      }
      case 'DiscriminatedObjectType': {
        const variants = Object.entries(stored.elements).map(([value, each]) => [value, () => read(each)] as const)
        const base = properties(stored.baseProperties)
        return { kind: 'discriminated', discriminator: stored.discriminator, base, variants: new Map(variants) }
      }
      default:
        return ANY
    }
  }
  return read
}
