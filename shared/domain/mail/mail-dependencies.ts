import type { Log } from '../../kernel/log.ts'
import type { MessageQueue } from '../../kernel/messages.ts'
import type { Metrics } from '../../kernel/metrics.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { Collection, CollectionKind } from '../collections/collection.ts'
import type { LateConnectorStore } from '../events/connector-events.ts'
import type { StoredEvent } from '../events/event-types.ts'
import type { Subscription } from '../events/subscription.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import type { LinkSettingsStore } from '../group-links/link-settings.ts'
import type { DeputyStore } from '../membership-requests/deputies.ts'
import type { MembershipResolver } from '../membership-requests/membership-resolver.ts'
import type { RequestStore } from '../membership-requests/request-dependencies.ts'
import type { TenantSnapshots } from '../tenant-index/tenant-snapshots.ts'
import type { MailContent } from './mail-item.ts'
import type { Mailbox } from './mailbox.ts'

/** Events that people are to be told of by mail, until they are. */
export interface NoticeStore {
  /** One that is stored already is ignored. */
  add(tenantId: string, events: readonly StoredEvent[]): Promise<void>
  /** The oldest events that no instance handles now. */
  due(tenantId: string, nowMs: number): Promise<readonly Versioned<StoredEvent>[]>
  /**
   * Keeps others from handling an event until then (ms).
   * @returns The new version; undefined when others have changed or removed it.
   */
  claim(tenantId: string, event: Versioned<StoredEvent>, untilMs: number): Promise<string | undefined>
  remove(tenantId: string, eventId: string): Promise<void>
}

export interface MailboxStore {
  find(tenantId: string, key: string): Promise<Versioned<Mailbox> | undefined>
  /**
   * @param version Undefined for a mailbox that is not stored yet.
   * @returns The new version; undefined when others have changed it.
   */
  save(tenantId: string, mailbox: Mailbox, version: string | undefined): Promise<string | undefined>
  /** The mailboxes whose digest is due. */
  due(tenantId: string, nowMs: number): Promise<readonly Versioned<Mailbox>[]>
  /** Tenants with events or digests that were due before (ms). */
  tenantsBehind(beforeMs: number): Promise<ReadonlySet<string>>
}

/** A mail to one address. */
export type OutgoingMail = MailContent & {
  readonly to: string
  /** Does not change when a mail is sent again. Without angle brackets and domain. */
  readonly messageKey: string
}

/** Sends mails from the mailbox of the service. */
export interface Mailer {
  /**
   * @returns False when the mail itself is refused, for example its address. It is refused again then.
   * @throws Error when nothing can be sent now. The mail may have been sent.
   */
  send(mail: OutgoingMail): Promise<boolean>
}

export type MailDependencies = {
  readonly notices: NoticeStore
  readonly mailboxes: MailboxStore
  readonly mailer: Mailer
  readonly settings: Pick<LinkSettingsStore, 'find'>
  readonly requests: Pick<RequestStore, 'find'>
  readonly collections: {
    find(tenantId: string, id: string, kind?: CollectionKind): Promise<Versioned<Collection> | undefined>
  }
  readonly links: { find(tenantId: string, linkId: string): Promise<Versioned<GroupLink> | undefined> }
  readonly connectors: { find(tenantId: string, id: string): Promise<Versioned<{ readonly name: string }> | undefined> }
  readonly lateConnectors: Pick<LateConnectorStore, 'of'>
  readonly subscriptions: {
    read(tenantId: string): Promise<Versioned<readonly Pick<Subscription, 'id' | 'url' | 'disabledReason'>[]>>
  }
  readonly snapshots: TenantSnapshots
  readonly membershipResolver: MembershipResolver
  readonly deputies: Pick<DeputyStore, 'all'>
  /** The address of the console; undefined where it has none that is known. */
  readonly consoleUrl: string | undefined
  readonly messageQueue: MessageQueue
  readonly log: Log
  readonly metrics: Metrics
  deriveId(...parts: string[]): string
  newId(): string
  nowMs(): number
}
