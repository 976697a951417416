export const OBJECT_TYPES = ['identity', 'orgUnit', 'relationship'] as const
export type ObjectType = (typeof OBJECT_TYPES)[number]

/** The types of objects that a relationship connects. */
export type LinkedType = Exclude<ObjectType, 'relationship'>
export const LINKED_TYPES = ['identity', 'orgUnit'] as const satisfies readonly LinkedType[]

export function isObjectType(word: unknown): word is ObjectType {
  return (OBJECT_TYPES as readonly unknown[]).includes(word)
}

/** A reference to another core object. */
export type Reference = { readonly objectId: string }

/**
 * Depends on the attribute's kind: a string (string, date, guid), a boolean, a list of GUIDs, a reference or several.
 */
export type AttributeValue = string | boolean | Reference | readonly string[] | readonly Reference[]

/** Attributes by name, as in `ATTRIBUTES` and `custom/<name>`. Unknown attributes are absent. */
export type Attributes = Readonly<Record<string, AttributeValue>>

/** An identity, org unit or relationship, merged from the contributions of connectors. */
export type CoreObject = {
  readonly id: string
  readonly objectType: ObjectType
  readonly externalId: string
  readonly attributes: Attributes
  /** The store's own time of the last write, in seconds since 1970. */
  readonly lastUpdatedS: number
  /** Whether the object is soft-deleted. Lists, searches and collections leave it out. */
  readonly deleted: boolean
}

/**
 * The kind of an attribute's value. `date` is a calendar date or a timestamp in ISO 8601; references name core objects.
 */
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

/** Attributes of all object types. */
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
 * All attributes that a connector can send, by object type. The service sets `id`, `externalId`
 * and `lastUpdated`. Attributes named `custom/<name>` are strings and not listed.
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
    employeeNumber: string,
    preferredLanguage: string,
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

/** Returns the definition of an attribute, custom ones included; undefined when the object type does not have it. */
export function attributeDefinition(objectType: ObjectType, name: string): AttributeDefinition | undefined {
  if (name.startsWith(CUSTOM_ATTRIBUTE_PREFIX) && name.length > CUSTOM_ATTRIBUTE_PREFIX.length) return string
  const definitions: Record<string, AttributeDefinition> = ATTRIBUTES[objectType]
  return Object.hasOwn(definitions, name) ? definitions[name] : undefined
}
