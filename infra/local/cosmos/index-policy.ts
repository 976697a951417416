import type { Json, JsonObject } from '../../../shared/kernel/json.ts'
import { isJsonObject } from './json-values.ts'

/** Properties that always have an index. */
const ALWAYS_INDEXED = new Set(['id', '_ts'])

/**
 * Whether a property has an index, which ORDER BY requires. Of the paths that cover it, the most precise one decides:
 * `/a/?` is more precise than `/a/*`, which is more precise than `/*`.
 * https://learn.microsoft.com/azure/cosmos-db/index-policy
 */
export function isIndexed(policy: Json | undefined, property: readonly string[]): boolean {
  const [first = ''] = property
  if (property.length === 1 && ALWAYS_INDEXED.has(first)) return true
  const { includedPaths, excludedPaths } = isJsonObject(policy) ? policy : ({} as JsonObject)
  const included = precisionOf(includedPaths ?? [{ path: '/*' }], property)
  const excluded = precisionOf([...listOf(excludedPaths), { path: '/"_etag"/?' }], property)
  return included > excluded
}

/** The precision of the most precise path that covers a property; 0 without one. */
function precisionOf(paths: Json, property: readonly string[]): number {
  const precisions = listOf(paths).map((entry) => {
    const path = isJsonObject(entry) ? String(entry.path) : ''
    const names = path.split('/').slice(1)
    const end = names.pop()
    const covered = names.map((name) => name.replace(/^"(.*)"$/, '$1'))
    if (!covered.every((name, index) => name === property[index])) return 0
    if (end === '*') return 2 * covered.length + 1
    return end === '?' && covered.length === property.length ? 2 * covered.length + 2 : 0
  })
  return Math.max(0, ...precisions)
}

const listOf = (value: Json | undefined): readonly Json[] => (Array.isArray(value) ? value : [])
