import type { ConnectorRules } from './connector-rules.ts'
import { areOtherPeople, isKeyOfOnePerson, rekeyingKeysOf, type WithKeys } from './join-keys.ts'

/** The identities of a connector that a batch creates or restores, by the keys that no two people have. */
export class Arrivals {
  readonly #rules: ConnectorRules
  readonly #byKey = new Map<string, WithKeys[]>()

  constructor(arrivals: Iterable<WithKeys>, rules: ConnectorRules) {
    this.#rules = rules
    for (const arrival of arrivals) {
      for (const key of rekeyingKeysOf(arrival, rules).filter(isKeyOfOnePerson)) {
        this.#byKey.set(key, [...(this.#byKey.get(key) ?? []), arrival])
      }
    }
  }

  /**
   * The keys by which live identities are the same person as a deleted one: all of them, or, when an arrival has one that
   * no two people have, those of this kind up to it.
   */
  keysUntilReplaced(deleted: WithKeys): readonly string[] {
    const keys = rekeyingKeysOf(deleted, this.#rules)
    const first = keys.findIndex((key) => this.#byKey.get(key)?.some((arrival) => !areOtherPeople(arrival, deleted)))
    return first < 0 ? keys : keys.slice(0, first + 1).filter(isKeyOfOnePerson)
  }
}
