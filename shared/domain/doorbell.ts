/** Something to look at again. It names the thing and carries no state: architecture, principle 1. */
export type Doorbell =
  | { readonly queue: 'evaluations' | 'sweeps'; readonly message: { readonly tenantId: string } }
  | {
      readonly queue: 'membership-changes'
      readonly message: { readonly tenantId: string; readonly collectionId: string }
    }
  | { readonly queue: 'sync-jobs'; readonly message: { readonly tenantId: string; readonly jobId: string } }

type RingOptions = {
  /** Names this ring among all others; two rings of one name may arrive as one. */
  readonly id: string
  readonly delayMs?: number
  /** How often its handling has failed; it comes again because of that. */
  readonly failureCount?: number
}

export interface Doorbells {
  /** Resolves once the ring is safely kept. A ring may arrive twice, or late. */
  ring(doorbell: Doorbell, options: RingOptions): Promise<void>
}
