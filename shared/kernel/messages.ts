/** A notification that something has changed. It names a record to read and carries no state, so that order is irrelevant. */
export type Message =
  | { readonly queue: 'evaluations'; readonly message: { readonly tenantId: string } }
  | {
      readonly queue: 'sweeps'
      readonly message: { readonly tenantId: string; readonly afterRestore?: boolean | undefined }
    }
  | {
      readonly queue: 'membership-changes'
      readonly message: { readonly tenantId: string; readonly collectionId: string }
    }
  | {
      readonly queue: 'audits'
      readonly message: {
        readonly tenantId: string
        readonly after?: string | undefined
        readonly stage?: 'keys' | undefined
        readonly beganAtMs?: number | undefined
      }
    }
  | {
      readonly queue: 'events'
      /** Without a source, of all sources: see `sweepEvents`. */
      readonly message: {
        readonly tenantId: string
        readonly source?: string | undefined
        readonly collectionIds?: readonly string[] | undefined
      }
    }
  | {
      readonly queue: 'event-deliveries'
      readonly message: { readonly tenantId: string; readonly subscriptionId: string }
    }
  | { readonly queue: 'mails'; readonly message: { readonly tenantId: string } }
  | { readonly queue: 'deadlines'; readonly message: { readonly tenantId: string; readonly dueAtMs: number } }
  | { readonly queue: 'sync-jobs'; readonly message: { readonly tenantId: string; readonly jobId: string } }

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
