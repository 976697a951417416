/** What a creation needs to be the same creation when it is tried again. */
export type Creation = {
  /** Ids for what is made: the same ones, in the same order, in every try. */
  newId(): string
  /** An earlier try may have got anywhere: what bears these ids may be there already. */
  readonly isRetry: boolean
}

/** A creation that nobody tries again: its ids are new ones. */
export function singleAttempt(deps: { newId(): string }): Creation {
  return { newId: () => deps.newId(), isRetry: false }
}

/** What an earlier try has left behind. The first one need not look. */
export async function findFromEarlierAttempt<T>(
  creation: Creation,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  return creation.isRetry ? look() : undefined
}
