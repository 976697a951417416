import { type Static, Type } from 'typebox'
import { Closed, Described, Guid } from '../../kernel/schema.ts'
import type { ConnectorStore } from './connector.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import { rulesOf } from './connector-rules.ts'

/** Identities that share a value of a join key without being one person. */
export const Duplicate = Closed({
  key: Described(Type.String(), 'The join key.'),
  value: Described(Type.String(), 'Its value as compared, in lower case; `hidden` for `nin`.'),
  identityIds: Type.Array(Guid),
})
export type Duplicate = Static<typeof Duplicate>

/**
 * The listed join key that a stored text `<key> <value>` begins with, and its value. Undefined for a key that no connector
 * lists any more, whose value can be one that is to be hidden. Of several keys the longest: custom names have spaces.
 */
function keyAndValue(text: string, keys: readonly string[]): readonly [key: string, value: string] | undefined {
  const [key] = keys
    .filter((candidate) => text.startsWith(`${candidate} `))
    .sort((left, right) => right.length - left.length)
  return key === undefined ? undefined : [key, text.slice(key.length + 1)]
}

/**
 * Lists the identities that join keys leave apart, by key and value. Identities that exist only, and keys that are
 * listed.
 */
export async function listDuplicates(
  tenantId: string,
  deps: {
    readonly connectors: Pick<ConnectorStore, 'list'>
    readonly objects: Pick<ConnectorObjectStore, 'conflicting'>
  },
): Promise<Duplicate[]> {
  const [connectors, conflicting] = await Promise.all([
    deps.connectors.list(tenantId),
    deps.objects.conflicting(tenantId),
  ])
  const rules = rulesOf(connectors)
  const idsOf = new Map<string, Set<string>>()
  for (const { connectorId, coreObjectId, conflictKeys } of conflicting) {
    if (rules.supplements(connectorId)) continue
    for (const text of conflictKeys) idsOf.set(text, (idsOf.get(text) ?? new Set()).add(coreObjectId))
  }
  return [...idsOf]
    .filter(([, ids]) => ids.size > 1)
    .sort(([left], [right]) => (left < right ? -1 : 1))
    .flatMap(([text, ids]) => {
      const [key, value] = keyAndValue(text, rules.joinKeys) ?? []
      if (key === undefined || value === undefined) return []
      return [{ key, value: key === 'nin' ? 'hidden' : value, identityIds: [...ids].sort() }]
    })
}
