/** Starts a settlement when no settlement with another outcome is in progress. Resolves or rejects like it. */
export type InOrder = (outcome: 'complete' | 'abandon', settle: () => Promise<void>) => Promise<void>

/**
 * Serializes settlements of a receiver with different outcomes. Settlements with the same outcome run concurrently.
 * Required because rhea 3.0.5, which the SDK uses, can merge two settlements of the same turn and send both with the
 * first outcome: a failed message would be completed and lost. (`write_dispositions` compares outcomes from the third.)
 */
export function settlementOrder(): InOrder {
  let outcomeNow: string | undefined
  let earlierOutcomes: Promise<unknown> = Promise.resolve()
  let sameOutcome: Promise<unknown> = Promise.resolve()
  return (outcome, settle) => {
    if (outcome !== outcomeNow) {
      outcomeNow = outcome
      earlierOutcomes = sameOutcome
    }
    const settled = earlierOutcomes.then(settle)
    const ended = settled.catch(() => undefined)
    sameOutcome = Promise.all([sameOutcome, ended]).then(() => undefined)
    return settled
  }
}
