import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

export type TypeReference = { readonly $ref: number }
type StoredProperty = { readonly type: TypeReference; readonly flags: number }
export type StoredProperties = Readonly<Record<string, StoredProperty>>

/** A type as `azure-types/README.md` describes it. */
export type StoredType =
  | { readonly $type: 'AnyType' | 'BooleanType' }
  | { readonly $type: 'ResourceType'; readonly body: TypeReference; readonly writableScopes: number }
  | { readonly $type: 'StringLiteralType'; readonly value: string }
  | {
      readonly $type: 'StringType'
      readonly pattern?: string
      readonly minLength?: number
      readonly maxLength?: number
    }
  | { readonly $type: 'IntegerType'; readonly minValue?: number; readonly maxValue?: number }
  | { readonly $type: 'ArrayType'; readonly itemType: TypeReference }
  | { readonly $type: 'UnionType'; readonly elements: readonly TypeReference[] }
  | {
      readonly $type: 'ObjectType'
      readonly properties: StoredProperties
      readonly additionalProperties?: TypeReference
    }
  | {
      readonly $type: 'DiscriminatedObjectType'
      readonly discriminator: string
      readonly baseProperties: StoredProperties
      readonly elements: Readonly<Record<string, TypeReference>>
    }

/** The resource types of Azure that the Bicep compiler uses. */
export type AzureTypes = {
  /** The properties of `<type>@<version>`. Case does not matter in the name. */
  bodyOf(typeAndVersion: string): StoredType | undefined
  at(reference: TypeReference): StoredType
  /** Every `<type>@<version>`. */
  readonly names: readonly string[]
}

/** Reads the type data of `test/support/infra/azure-types`. */
export function readAzureTypes(path: string): AzureTypes {
  const { types, resources } = JSON.parse(gunzipSync(readFileSync(path)).toString()) as {
    types: readonly StoredType[]
    resources: Readonly<Record<string, number>>
  }
  const byName = new Map(Object.entries(resources).map(([name, index]) => [name.toLowerCase(), index]))
  const at = ({ $ref }: TypeReference): StoredType => types[$ref] ?? { $type: 'AnyType' }
  return {
    names: Object.keys(resources),
    at,
    bodyOf(name) {
      const type = at({ $ref: byName.get(name.toLowerCase()) ?? -1 })
      return type.$type === 'ResourceType' ? at(type.body) : undefined
    },
  }
}

/** The type of a property of an object; undefined if the type does not have it. */
export function propertyOf(type: StoredType, name: string, types: AzureTypes): StoredType | undefined {
  if (type.$type === 'ObjectType') {
    const found = type.properties[name]?.type ?? type.additionalProperties
    return found && types.at(found)
  }
  if (type.$type !== 'DiscriminatedObjectType') return { $type: 'AnyType' }
  const base = type.baseProperties[name]?.type
  if (base !== undefined) return types.at(base)
  for (const element of Object.values(type.elements)) {
    const found = propertyOf(types.at(element), name, types)
    if (found !== undefined) return found
  }
  return undefined
}
