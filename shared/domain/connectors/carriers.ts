import type { ConnectorRules } from './connector-rules.ts'
import type { Identity, IdentityIndex } from './identity-index.ts'

/**
 * The live identities that carry core objects: those that make a person exist. The identities of a connector that
 * supplements others have a core object as well, and do not carry it.
 */
export class Carriers {
  readonly #index: IdentityIndex
  readonly #rules: ConnectorRules

  constructor(index: IdentityIndex, rules: ConnectorRules) {
    this.#index = index
    this.#rules = rules
  }

  includes({ connectorId }: Identity): boolean {
    return !this.#rules.supplements(connectorId)
  }

  /** Those of a core object. */
  of(coreObjectId: string | undefined): Identity[] {
    return this.#index.inCoreObject(coreObjectId).filter((identity) => this.includes(identity))
  }

  /** Those of a core object that are not among the identities of a person. */
  besides(person: readonly Identity[], coreObjectId: string | undefined): Identity[] {
    const own = new Set(person.map(({ id }) => id))
    return this.of(coreObjectId).filter(({ id }) => !own.has(id))
  }
}
