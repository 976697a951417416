import assert from 'node:assert/strict'
import type { ObjectWrite } from '../../../shared/domain/connectors/object-input.ts'
import type { Member, State } from './merging-tenant.ts'
import type { PeopleOutcome } from './people-outcome.ts'
import { LINKED } from './people-steps.ts'

export const sharesOne = (some: readonly string[], others: readonly string[]): boolean =>
  some.some((one) => others.includes(one))
export const linked = ({ members }: State): readonly Member[] =>
  members.filter(({ collection }) => collection === LINKED)

/**
 * Contributors who may be the same person as a member: those of one person, renamed, or with a join key of the connector.
 * A deleted one that comes back with another `nin` is another person; what it was before goes on under an alias.
 */
export class RelatedPeople {
  readonly #idsByKey = new Map<string, Set<string>>()
  readonly #members = new Set<string>()
  /** The `nin` of each contributor as it was last known to be live. */
  readonly #ninOf = new Map<string, unknown>()

  add(ids: readonly string[], keys: readonly string[]): void {
    for (const key of keys) for (const id of ids) this.#with(key).add(id)
  }

  #with(key: string): Set<string> {
    const known = this.#idsByKey.get(key) ?? new Set()
    this.#idsByKey.set(key, known)
    return known
  }

  /** @param isCrossed Whether another write at the same time makes it open what the contributor was when this one came. */
  send(outcome: PeopleOutcome, connector: number, write: ObjectWrite, isCrossed = false): void {
    if (write.objectType !== 'identity') return
    const id = outcome.idOf(connector, write.externalId)
    if (isCrossed) this.#ninOf.delete(id)
    if (write.operation === 'delete') return
    const { nin, directoryObjectId, email } = write.data
    if (nin !== undefined) {
      if (!outcome.said().has(id)) this.#handOver(id, nin)
      const alias = aliasOf(id, nin)
      this.add([id, alias], [alias])
    }
    const keys = Object.entries({ nin, directoryObjectId, email }).filter(([, value]) => value !== undefined)
    this.add(
      [id],
      keys.map(([key, value]) => `${connector} ${key} ${value}`),
    )
    const { previousExternalId } = write as { previousExternalId?: string }
    if (previousExternalId === undefined) return
    const former = outcome.idOf(connector, previousExternalId)
    this.add([id, former], [`renamed ${id} ${former}`])
  }

  #handOver(id: string, nin: unknown): void {
    const former = this.#ninOf.get(id)
    if (former === undefined || former === nin) return
    for (const ids of [...this.#idsByKey.values(), this.#members]) {
      if (ids.delete(id)) ids.add(aliasOf(id, former))
    }
  }

  /** Notes the people who are members now. */
  note(state: State, outcome: PeopleOutcome): void {
    for (const [id, { nin }] of outcome.said()) this.#ninOf.set(id, nin)
    for (const { person } of linked(state)) for (const id of person) this.#members.add(id)
  }

  assertMembers(after: State, outcome: PeopleOutcome): void {
    for (const ids of this.#idsByKey.values()) {
      if (!ids.isDisjointFrom(this.#members)) for (const id of ids) this.#members.add(id)
    }
    for (const { person } of linked(after)) {
      assert.ok(sharesOne(person, [...this.#members]), `A membership came to ${person}`)
    }
    this.note(after, outcome)
  }
}

const aliasOf = (id: string, nin: unknown): string => `${id} as ${nin}`
