/** Begins a settlement when none of another outcome is under way; settles as it does. */
export type InOrder = (outcome: 'complete' | 'abandon', settle: () => Promise<void>) => Promise<void>

/**
 * Keeps settlements of one receiver apart where their outcomes differ; those of one outcome still overlap. Needed
 * because rhea 3.0.5, below the SDK, may join two settlements written in the same turn and send both as the first: a
 * message that failed would be completed, and lost. (`write_dispositions` compares outcomes from the third on.)
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
