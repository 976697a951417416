import type { ObjectType } from '../core/core-object.ts'
import type { CriteriaObjectType } from './collection.ts'

/** The core objects that collections of a type hold. */
export const OBJECT_TYPE_OF = {
  Identity: 'identity',
  Relationship: 'relationship',
  OrgUnit: 'orgUnit',
} as const satisfies Record<CriteriaObjectType, ObjectType>
