import type { CooperativeScheduler } from '../../kernel/cooperative-scheduler.ts'
import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { TenantQuota } from '../../kernel/tenant-quota.ts'
import type { ConnectorStore } from './connector.ts'
import type { DeriveId } from './connector-object.ts'
import type { ConnectorObjectStore } from './connector-object-store.ts'
import type { CustomAttributeRegister } from './custom-attribute-names.ts'
import type { CoreObjectWriter } from './merge-writes.ts'
import type { CountDependencies } from './space-counts.ts'
import type { UnchangedDeliveries } from './unchanged-deliveries.ts'
import type { UnresolvedReferenceReader } from './unresolved-references.ts'

export type WriteDependencies = CountDependencies & {
  readonly connectors: ConnectorStore
  readonly objects: ConnectorObjectStore
  readonly coreObjects: CoreObjectWriter & UnresolvedReferenceReader
  readonly customAttributes: CustomAttributeRegister
  readonly connectorObjectQuota: TenantQuota
  readonly unchangedDeliveries: UnchangedDeliveries
  readonly messageQueue: MessageQueue
  /** Decides on large batches without blocking other requests. */
  readonly scheduler: CooperativeScheduler
  readonly log: Log
  readonly metrics: Metrics
  /** Milliseconds between a write and the evaluation of collections, which combines the changes of several writes. */
  readonly evaluationDelayMs: number
  readonly deriveId: DeriveId
  newId(): string
  nowMs(): number
}
