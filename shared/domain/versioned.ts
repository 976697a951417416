/** A record as read, with the version that a later write must quote. */
export type Versioned<T> = { readonly value: T; readonly version: string }

/** One page of an ordered list. `continueAfter` is absent on the last page. */
export type Page<T> = { readonly items: readonly T[]; readonly continueAfter?: string }
