export const OBJECT_TYPES = ['identity', 'orgUnit', 'relationship'] as const
export type ObjectType = (typeof OBJECT_TYPES)[number]

/** Whether a word names a type of core objects. */
export function isObjectType(word: unknown): word is ObjectType {
  return (OBJECT_TYPES as readonly unknown[]).includes(word)
}

/** Points at another core object by its id. */
export type Reference = { readonly objectId: string }

/** By the attribute's kind: a string (string, date, guid), a boolean, a list of GUIDs, one reference or several. */
export type AttributeValue = string | boolean | Reference | readonly string[] | readonly Reference[]

/** Absent attributes are unknown. Names as in `ATTRIBUTES`, and `custom/<name>`. */
export type Attributes = Readonly<Record<string, AttributeValue>>

/** A person, an org unit or a position, as merged from what the connectors say of it. */
export type CoreObject = {
  readonly id: string
  readonly objectType: ObjectType
  readonly externalId: string
  readonly attributes: Attributes
  /** The store's own time of the last write, in seconds since 1970. */
  readonly lastUpdatedS: number
  /** Soft-deleted: in no list, search or collection. */
  readonly deleted: boolean
}

/** What an attribute holds. `date` is a calendar date or an instant in ISO 8601; references name another core object. */
export type AttributeKind = 'string' | 'boolean' | 'date' | 'guid' | 'guids' | 'reference' | 'references'

export type AttributeDefinition = {
  readonly kind: AttributeKind
  /** Only for references: the type of the object referred to. */
  readonly to?: ObjectType
}

const string = { kind: 'string' } as const
const date = { kind: 'date' } as const
const guids = { kind: 'guids' } as const
const referenceTo = (to: ObjectType) => ({ kind: 'reference', to }) as const
const referencesTo = (to: ObjectType) => ({ kind: 'references', to }) as const

/** Attributes that objects of every type have. Decisions, section 3. */
const COMMON = {
  joinScope: string,
  anchor1: string,
  anchor2: string,
  anchor3: string,
  anchor4: string,
  anchor5: string,
  anchor6: string,
  anchor7: string,
  anchor8: string,
  anchor9: string,
} as const

/**
 * Every attribute that a connector may give, by the type of object: decisions, section 3. `id`, `externalId` and
 * `lastUpdated` are the service's own; `custom/<name>` attributes are strings and are not listed.
 */
export const ATTRIBUTES = {
  identity: {
    ...COMMON,
    displayName: string,
    firstName: string,
    lastName: string,
    mobile: string,
    privateMobile: string,
    email: string,
    privateEmail: string,
    countryCode: string,
    nin: string,
    directoryObjectId: { kind: 'guid' },
    directoryUserPrincipalName: string,
    directoryOnPremisesSamAccountName: string,
    directoryOnPremisesDistinguishedName: string,
    directoryOnPremisesSyncEnabled: { kind: 'boolean' },
    primaryRelationship: referenceTo('relationship'),
    directMemberOfDirectoryGroups: guids,
    assignedLicenses: guids,
  },
  orgUnit: {
    ...COMMON,
    displayName: string,
    email: string,
    type: string,
    subType: string,
    parent: referenceTo('orgUnit'),
    manager: referenceTo('identity'),
    deputies: referencesTo('identity'),
  },
  relationship: {
    ...COMMON,
    title: string,
    employeeId: string,
    type: string,
    subType: string,
    officeLocation: string,
    startDate: date,
    endDate: date,
    identity: referenceTo('identity'),
    orgUnit: referenceTo('orgUnit'),
    manager: referenceTo('identity'),
  },
} as const satisfies Record<ObjectType, Record<string, AttributeDefinition>>

export const CUSTOM_ATTRIBUTE_PREFIX = 'custom/'

/** The definition of an attribute by its name, custom ones included; undefined when objects of this type have none. */
export function attributeDefinition(objectType: ObjectType, name: string): AttributeDefinition | undefined {
  if (name.startsWith(CUSTOM_ATTRIBUTE_PREFIX) && name.length > CUSTOM_ATTRIBUTE_PREFIX.length) return string
  const definitions: Record<string, AttributeDefinition> = ATTRIBUTES[objectType]
  return Object.hasOwn(definitions, name) ? definitions[name] : undefined
}
