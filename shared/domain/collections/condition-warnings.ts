import { type Static, Type } from 'typebox'
import type { Task } from '../../kernel/cooperative-scheduler.ts'
import { Closed, Described, OneOf } from '../../kernel/schema.ts'
import type { CheckedCondition } from '../criteria/condition.ts'
import { type Proof, proofsTask } from '../criteria/proofs/prove-condition.ts'
import type { RowSettings } from '../tenant-index/row-settings.ts'
import type { Collection } from './collection.ts'
import type { CollectionDependencies } from './collection-dependencies.ts'
import { storedConditionTask } from './condition-entry.ts'

/** Codes of warnings that follow from a condition alone. */
export const PROOF_CODES = ['NeverHolds', 'AlwaysHolds', 'Redundant'] as const satisfies readonly Proof['code'][]

export const PROOF_CODES_TEXT =
  'These follow from the condition alone, for all data: `NeverHolds`, `AlwaysHolds`: the group holds on no row, or on ' +
  'every row; the smallest such groups are named. `Redundant`: the leaf is implied by another one of its `AND`, or ' +
  'implies another one of its `OR`. A condition without such a warning can still have these properties.'

export const ConditionWarning = Closed({
  code: Described(OneOf(PROOF_CODES), PROOF_CODES_TEXT),
  message: Type.String(),
  target: Described(Type.String(), 'A JSON pointer into the condition; empty for all of it.'),
})
export type ConditionWarning = Static<typeof ConditionWarning>

const MESSAGES: Readonly<Record<Proof['code'], string>> = {
  NeverHolds: 'The group holds on no row, for all data',
  AlwaysHolds: 'The group holds on every row, for all data',
  Redundant: 'Without the leaf, the group means the same',
}

/** What is certainly not intended about a condition. */
export function* conditionWarningsTask({ root }: CheckedCondition, { zone }: RowSettings): Task<ConditionWarning[]> {
  const proofs = yield* proofsTask(root, zone)
  return proofs.map(({ code, pointer }) => ({ code, message: MESSAGES[code], target: pointer }))
}

/** The warnings of a stored condition. None for one that is invalid. */
export async function warningsOf(
  collection: Collection,
  { scheduler, snapshots, log }: Pick<CollectionDependencies, 'scheduler' | 'snapshots' | 'log'>,
): Promise<ConditionWarning[]> {
  try {
    return await scheduler.run(storedWarningsTask(collection, await snapshots.settingsOf(collection.tenantId)))
  } catch (error) {
    log.error('collection.invalid', error, { tenantId: collection.tenantId, collectionId: collection.id })
    return []
  }
}

function* storedWarningsTask(collection: Collection, settings: RowSettings): Task<ConditionWarning[]> {
  return yield* conditionWarningsTask(yield* storedConditionTask(collection, settings.types), settings)
}
