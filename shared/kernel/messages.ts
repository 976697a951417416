/** Something to look at again. It names the thing and carries no state: architecture, principle 1. */
export type Message =
  | { readonly queue: 'evaluations' | 'sweeps'; readonly message: { readonly tenantId: string } }
  | {
      readonly queue: 'membership-changes'
      readonly message: { readonly tenantId: string; readonly collectionId: string }
    }
  | { readonly queue: 'sync-jobs'; readonly message: { readonly tenantId: string; readonly jobId: string } }

type EnqueueOptions = {
  /** Names this ring among all others; two rings of one name may arrive as one. */
  readonly id: string
  readonly delayMs?: number
}

export interface MessageQueue {
  /** Resolves once the ring is safely kept. A ring may arrive twice, or late. */
  enqueue(message: Message, options: EnqueueOptions): Promise<void>
}
