import type { SnapshotObject } from '../../../../shared/domain/tenant-index/rows/apply-objects.ts'

/** Conditions as costly as the limits allow, and a tenant to evaluate them on. */

const LEAF_COUNT = 500
/** Leaves with functions 16 deep that fit into the 128 KB of a condition. */
const FUNCTION_LEAF_COUNT = 320
const DEPTH = 16
const IN_COUNT = 1000
/** Lists of `IN_COUNT` entries that fit into it, beside 500 leaves. */
const LIST_COUNT = 9
const FUNCTION_COUNT = 16

const leaf = (operator: string, value: unknown, field = 'identityDisplayName') => {
  return { id: 'identityDisplayName', field, operator, value }
}

/** Functions around functions, different ones for each leaf, so that no two have anything in common. */
function nestedFunctions(index: number): string {
  let field = 'identityDisplayName'
  for (let depth = 0; depth < FUNCTION_COUNT / 2; depth += 1) {
    field = depth % 2 === 0 ? `ToUpper(${field})` : `ToLower(${field})`
    field = `Substring(${field},${(index + depth) % 2},${999_999_999_999_000 + index})`
  }
  return field
}

/** So deep a tree, with all its leaves on the lowest level. No leaf holds, so each is asked about everybody. */
function tree(leafOf: (index: number) => object, depthCount = DEPTH, leafCount = LEAF_COUNT): object {
  let group: object = {
    groupOperator: 'OR',
    conditions: Array.from({ length: leafCount }, (_, index) => leafOf(index)),
  }
  for (let depth = 1; depth < depthCount; depth += 1) group = { groupOperator: 'OR', conditions: [group] }
  return group
}

export const HOSTILE_CONDITIONS: Readonly<Record<string, object>> = {
  'leaves that search every text': tree((index) => leaf('Contains', `nowhere ${index}`)),
  'functions 16 deep, different in each leaf': tree(
    (index) => leaf('Contains', 'nowhere', nestedFunctions(index)),
    DEPTH,
    FUNCTION_LEAF_COUNT,
  ),
  'functions 16 deep, the same in each leaf': tree(
    (index) => leaf('Contains', `no ${index}`, nestedFunctions(1)),
    DEPTH,
    FUNCTION_LEAF_COUNT,
  ),
  'lists of a thousand entries': tree((index) =>
    leaf(
      'In',
      index < LIST_COUNT ? Array.from({ length: IN_COUNT }, (_, entry) => `${index} ${entry}`) : ['nobody'],
      'ToUpper(identityDisplayName)',
    ),
  ),
  'negations and exclusive groups in turn': {
    groupOperator: 'XOR',
    conditions: [
      {
        groupOperator: 'NOT',
        conditions: [tree((index) => leaf('NotContains', `a${index % 7}`), DEPTH - 2, LEAF_COUNT - 1)],
      },
      { groupOperator: 'XOR', conditions: [leaf('EndsWith', 'é', 'ToLower(identityDisplayName)')] },
    ],
  },
}

/**
 * People with names of their own: a third beyond ASCII, one in fifty with letters whose case is a matter of its own.
 */
export function manyPeople(count: number): SnapshotObject[] {
  return Array.from({ length: count }, (_, index) => {
    const rare = ['Straße', 'Σίσυφος', '𝒩ordmann'][index % 3] as string
    const name = index % 50 === 0 ? rare : (['Plain Name', 'Åse Ødegård', 'Kari'][index % 3] as string)
    const attributes = { displayName: `${name} ${index}` }
    return { objectType: 'identity', id: personId(index), externalId: `${index}`, attributes, deleted: false }
  })
}

export function personId(index: number): string {
  return `00000000-0000-4000-8000-${String(index).padStart(12, '0')}`
}
