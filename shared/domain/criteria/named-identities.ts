import { schemaName } from '../core/attribute-names.ts'
import { MAX_DEPTH } from './check-condition.ts'
import { isObject } from './condition-findings.ts'

/** The identity that remains, by the id of each identity that was merged into it. */
export type RenamedIdentities = ReadonlyMap<string, string>

/** The fields of conditions whose values are ids of identities. */
const IDENTITY_FIELDS: ReadonlySet<unknown> = new Set([
  schemaName('identity', 'id'),
  schemaName('relationship', 'identity'),
  schemaName('relationship', 'manager'),
  schemaName('orgUnit', 'manager'),
  schemaName('orgUnit', 'deputies'),
])

/** The ids of identities that a condition names, valid or not. */
export function identitiesInCondition(node: unknown, depth = 1): string[] {
  if (!isObject(node) || depth > MAX_DEPTH + 1) return []
  const { conditions, id, value } = node
  if (Array.isArray(conditions)) return conditions.flatMap((child) => identitiesInCondition(child, depth + 1))
  return IDENTITY_FIELDS.has(id)
    ? [value]
        .flat()
        .filter(isText)
        .map((named) => named.toLowerCase())
    : []
}

/** The condition, valid or not, with the identities that remain in the place of merged ones. */
export function withRenamedIdentities(node: unknown, renamed: RenamedIdentities, depth = 1): unknown {
  if (!isObject(node) || depth > MAX_DEPTH + 1) return node
  const { conditions, id, value } = node
  if (Array.isArray(conditions)) {
    return { ...node, conditions: conditions.map((child) => withRenamedIdentities(child, renamed, depth + 1)) }
  }
  if (!IDENTITY_FIELDS.has(id)) return node
  if (Array.isArray(value)) return value.every(isText) ? { ...node, value: renamedIds(value, renamed) } : node
  return isText(value) ? { ...node, value: renamed.get(value.toLowerCase()) ?? value } : node
}

const isText = (value: unknown): value is string => typeof value === 'string'

/** Each id once, in the order of their first places. */
export function renamedIds(ids: readonly string[], renamed: RenamedIdentities): string[] {
  return [...new Set(ids.map((id) => renamed.get(id.toLowerCase()) ?? id))]
}
