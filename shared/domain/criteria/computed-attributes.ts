import type { ObjectType } from '../core/core-object.ts'

/** An attribute that follows from others. It has one value for each object of a type. */
type ComputedAttribute = {
  /** The type of the objects that have it. */
  readonly of: ObjectType
  readonly type: 'Boolean' | 'List'
  /** The type of the objects that a list refers to. */
  readonly to?: ObjectType
  /** The schema names of what it follows from, apart from the composition of rows. */
  readonly reads: readonly string[]
  readonly dependsOnDay?: true
}

/** By schema name. The API description of conditions says what they mean. */
export const COMPUTED_ATTRIBUTES = {
  /** Until the day of its `endDate` has passed; `startDate` does not matter. */
  relationshipIsActive: { of: 'relationship', type: 'Boolean', reads: ['relationshipEndDate'], dependsOnDay: true },
  /** Whether it is the primary relationship of its identity. */
  relationshipIsPrimary: { of: 'relationship', type: 'Boolean', reads: ['identityPrimaryRelationship'] },
  /** The unit, its parent, up to the root. A deleted unit ends the chain. */
  orgUnitWithAncestors: { of: 'orgUnit', type: 'List', to: 'orgUnit', reads: ['orgUnitParent'] },
  identityManagedOrgUnits: { of: 'identity', type: 'List', to: 'orgUnit', reads: ['orgUnitManager'] },
  identityDeputyOfOrgUnits: { of: 'identity', type: 'List', to: 'orgUnit', reads: ['orgUnitDeputies'] },
  /** Whether some active relationship has the identity as its manager, by itself or through its units. */
  identityHasReports: {
    of: 'identity',
    type: 'Boolean',
    reads: ['relationshipManager', 'relationshipEndDate', 'orgUnitManager', 'orgUnitParent'],
    dependsOnDay: true,
  },
} as const satisfies Record<string, ComputedAttribute>

export type ComputedName = keyof typeof COMPUTED_ATTRIBUTES

/** Undefined for a name of another kind. */
export function computedAttribute(name: string): ComputedAttribute | undefined {
  return isComputed(name) ? COMPUTED_ATTRIBUTES[name] : undefined
}

export function isComputed(name: string): name is ComputedName {
  return Object.hasOwn(COMPUTED_ATTRIBUTES, name)
}
