import type { CooperativeScheduler, Task } from '../../kernel/cooperative-scheduler.ts'
import type { RefusalEntry } from '../../kernel/refusals.ts'
import type { Reservation, TenantQuota } from '../../kernel/tenant-quota.ts'
import { connectorObjectId } from './connector-object.ts'
import { type AddedNames, addedNames, type CustomAttributeRegister } from './custom-attribute-names.ts'
import type { ObjectWrite } from './object-input.ts'
import type { WriteContext } from './write-decision.ts'

type LimitDependencies = {
  readonly customAttributes: CustomAttributeRegister
  readonly connectorObjectQuota: TenantQuota
  readonly scheduler: CooperativeScheduler
}

/**
 * Returns the refusals of objects that would exceed a limit of the tenant: of custom attributes, then of new objects.
 */
export async function limitRefusals(
  tenantId: string,
  writes: readonly ObjectWrite[],
  context: WriteContext,
  { customAttributes, connectorObjectQuota, scheduler }: LimitDependencies,
): Promise<Limited> {
  const { added, created } = await scheduler.run(additions(writes, context))
  const tooMany = await customAttributes.register(tenantId, [...added.keys()])
  const refusals = new Map([...tooMany].map(([addition, entry]) => [added.get(addition) as ObjectWrite, entry]))
  const counted = created.filter((write) => !refusals.has(write))
  const reservation = await connectorObjectQuota.take(tenantId, counted.length)
  for (const write of counted.slice(reservation.count)) refusals.set(write, connectorObjectQuota.refusal)
  return { refusals, reservation }
}

type Limited = {
  readonly refusals: ReadonlyMap<ObjectWrite, RefusalEntry>
  /** Room for the new objects, to be settled after their write. */
  readonly reservation: Reservation
}

type Additions = {
  readonly added: ReadonlyMap<AddedNames, ObjectWrite>
  readonly created: readonly ObjectWrite[]
}

function* additions(writes: readonly ObjectWrite[], { stored, connectorId, derive }: WriteContext): Task<Additions> {
  const created: ObjectWrite[] = []
  const added = new Map<AddedNames, ObjectWrite>()
  for (const write of writes) {
    yield
    if (write.operation === 'delete') continue
    const before = stored.get(connectorObjectId({ ...write, connectorId }, derive))?.value
    const addition = addedNames(write.objectType, write.data, before?.data)
    if (addition.names.length > 0) added.set(addition, write)
    if (before === undefined && write.operation !== 'replace' && write.operation !== 'rejoin') created.push(write)
  }
  return { added, created }
}
