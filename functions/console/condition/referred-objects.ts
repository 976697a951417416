import type { ObjectType } from '../../../shared/domain/core/core-object.ts'
import type { WireGroup, WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import { MEMBER_OF_COLLECTION, referredObjectType } from '../../../shared/domain/criteria/schema.ts'
import { isOperand } from './condition-tree.ts'

/** What a condition can name by id: objects by the types of collections, and collections. */
export type ReferredType = 'Identity' | 'Relationship' | 'OrgUnit' | 'Collection'

const TYPE_OF: Readonly<Record<ObjectType, ReferredType>> = {
  identity: 'Identity',
  relationship: 'Relationship',
  orgUnit: 'OrgUnit',
}

/** What the values of an attribute refer to; undefined for values that are no ids of the service. */
export function referredType(attribute: string): ReferredType | undefined {
  if (attribute === MEMBER_OF_COLLECTION) return 'Collection'
  const objectType = referredObjectType(attribute)
  return objectType === undefined ? undefined : TYPE_OF[objectType]
}

/** The ids that a condition names, by what they refer to. */
export function referredIds(condition: WireGroup): ReadonlyMap<ReferredType, readonly string[]> {
  const ids = new Map<ReferredType, string[]>()
  for (const { id, value } of leavesOf(condition)) {
    const type = referredType(id)
    if (type === undefined || value === undefined || isOperand(value)) continue
    ids.set(type, [...(ids.get(type) ?? []), ...[value].flat().map((item) => String(item).toLowerCase())])
  }
  return ids
}

function leavesOf({ conditions }: WireGroup): WireLeaf[] {
  return conditions.flatMap((node) => ('groupOperator' in node ? leavesOf(node) : [node]))
}
