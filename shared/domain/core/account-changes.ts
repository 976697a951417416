import type { ObjectType } from './core-object.ts'

/** That another directory account stands behind a core object than before: an identity, or the position that it holds. */
export type AccountChange = {
  readonly id: string
  readonly objectType: ObjectType
  /** By the clock of whoever merged the object, shortly before the change could be read. */
  readonly movedAtMs: number
}

/** Which core objects changed accounts, soft-deleted ones included; each with the last time that it did. */
export interface AccountChangeStore {
  /** All that did at this time or later. */
  since(tenantId: string, sinceMs: number): Promise<readonly AccountChange[]>
  /** Those of the ids that did. */
  amongSince(tenantId: string, ids: readonly string[], sinceMs: number): Promise<readonly AccountChange[]>
}

/**
 * How long a change of account is looked for. Whole groups are compared every hour, which finds what is older; this
 * leaves room for one sweep that was missed.
 */
export const ACCOUNT_CHANGE_WINDOW_MS = 2 * 60 * 60 * 1000
