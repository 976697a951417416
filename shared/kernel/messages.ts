import { type Static, Type } from 'typebox'
import { Guid } from './schema.ts'

/**
 * The schemas of the messages, by queue. A message is a notification that something has changed: it names a record to
 * read and carries no state, so that order is irrelevant. The schemas are open: the next version of the service may add
 * members, and both versions receive messages of both during a deployment.
 */
export const MESSAGE_SCHEMAS = {
  evaluations: Type.Object({ tenantId: Guid }),
  'membership-changes': Type.Object({ tenantId: Guid, collectionId: Guid }),
  /** `afterRestore`: the tenant's containers were restored, to slightly different times. */
  sweeps: Type.Object({ tenantId: Guid, afterRestore: Type.Optional(Type.Boolean()) }),
  /** `dueAtMs`: a time at which something of the tenant ends. */
  deadlines: Type.Object({ tenantId: Guid, dueAtMs: Type.Number() }),
  /**
   * `after`: the core object after which an audit continues that began at `beganAtMs`. `stage`: first, only the join keys
   * are stored by which identities find each other. `pendingSinceMs`: the times since
   * when the keys that are stored have been pending. `hasOtherKeys`: keys were stored before this audit.
   */
  audits: Type.Object({
    tenantId: Guid,
    after: Type.Optional(Guid),
    stage: Type.Optional(Type.Literal('keys')),
    pendingSinceMs: Type.Optional(Type.Array(Type.Number())),
    hasOtherKeys: Type.Optional(Type.Boolean()),
    beganAtMs: Type.Optional(Type.Number()),
  }),
  /** The records whose events are to be published, and the collections whose members have changed. Without both, all. */
  events: Type.Object({
    tenantId: Guid,
    source: Type.Optional(Type.String()),
    collectionIds: Type.Optional(Type.Array(Guid)),
  }),
  'event-deliveries': Type.Object({ tenantId: Guid, subscriptionId: Guid }),
  /** Mails to people of the tenant can be due. */
  mails: Type.Object({ tenantId: Guid }),
  'sync-jobs': Type.Object({ tenantId: Guid, jobId: Guid }),
} as const

type Queue = keyof typeof MESSAGE_SCHEMAS

/** What a message of a queue says. Members without a value are undefined or absent. */
export type MessageOf<Name extends Queue> = Members<Static<(typeof MESSAGE_SCHEMAS)[Name]>>
type Members<Message> = {
  readonly [Name in keyof Message]:
    | Readonly<Message[Name]>
    | (Record<never, never> extends Pick<Message, Name> ? undefined : never)
}

export type Message = { readonly [Name in Queue]: { readonly queue: Name; readonly message: MessageOf<Name> } }[Queue]

type EnqueueOptions = {
  /** Deduplication id: of several messages with one id, one can be delivered. */
  readonly id: string
  readonly delayMs?: number
  /** The number of times that handling this message has failed. */
  readonly failureCount?: number
}

export interface MessageQueue {
  /** Resolves when the message is stored. A message can be delivered more than once, or late. */
  enqueue(message: Message, options: EnqueueOptions): Promise<void>
}
