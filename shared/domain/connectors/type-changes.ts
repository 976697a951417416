import { enqueueEvaluation } from '../../kernel/enqueue-messages.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import { Refusal, type RefusalEntry } from '../../kernel/refusals.ts'
import type { CustomTypes } from '../core/custom-types.ts'
import { customTypesOf, refuseContradictions } from './attribute-types.ts'
import type { Connector } from './connector.ts'

/** The data and conditions of a tenant, as far as types of attributes concern them. */
export interface TypeChecks {
  /**
   * @param changed The attributes whose types change, with their new types.
   * @param types All types after the change.
   * @returns Why data and conditions do not fit; empty when they do.
   */
  misfits(tenantId: string, changed: CustomTypes, types: CustomTypes): Promise<readonly RefusalEntry[]>
  /** The types were changed: this instance reads them again. */
  forgetSettings(tenantId: string): void
}

type TypeDependencies = {
  readonly typeChecks: TypeChecks
  readonly messageQueue: MessageQueue
  newId(): string
}

/**
 * Whether custom attributes of the tenant have other types by other connectors.
 * @param connector The one that is added or changed; undefined when one is deleted.
 * @throws Refusal `InvalidValue`, `AttributeTypeConflict`, `AttributeValuesDoNotFit`, `ConditionsDoNotFit`.
 */
export async function isTypeChange(
  tenantId: string,
  before: readonly Connector[],
  after: readonly Connector[],
  connector: Connector | undefined,
  { typeChecks }: Pick<TypeDependencies, 'typeChecks'>,
): Promise<boolean> {
  if (connector !== undefined) {
    const others = after.filter(({ id }) => id !== connector.id)
    refuseContradictions(connector.attributeTypes, others)
  }
  const types = customTypesOf(after)
  const changed = changedTypes(customTypesOf(before), types)
  if (changed.size === 0) return false
  const misfits = await typeChecks.misfits(tenantId, changed, types)
  if (misfits.length > 0) throw Refusal.ofAll(misfits)
  return true
}

/** The attributes that have another type than before, by schema name, with their new types. */
function changedTypes(before: CustomTypes, after: CustomTypes): CustomTypes {
  const names = new Set([...before.keys(), ...after.keys()])
  const changed = [...names].filter((name) => (before.get(name) ?? 'String') !== (after.get(name) ?? 'String'))
  return new Map(changed.map((name) => [name, after.get(name) ?? 'String']))
}

/** Every instance then reads the rows by the new types: `ROW_SETTINGS_CACHED_MS`. */
const EVALUATED_AGAIN_AFTER_MS = 30_000

/**
 * Writes a change of a connector. When it changes types, all collections of the tenant are evaluated: at once, and when
 * every instance reads the rows by the new types. The latter is enqueued first, so that a crash after the write loses
 * nothing.
 */
export async function writeTypes<T>(
  isChange: boolean,
  tenantId: string,
  write: () => Promise<T>,
  { typeChecks, messageQueue, newId }: TypeDependencies,
): Promise<T> {
  if (!isChange) return write()
  await enqueueEvaluation(tenantId, newId(), { messageQueue }, EVALUATED_AGAIN_AFTER_MS)
  const written = await write()
  typeChecks.forgetSettings(tenantId)
  await enqueueEvaluation(tenantId, newId(), { messageQueue })
  return written
}
