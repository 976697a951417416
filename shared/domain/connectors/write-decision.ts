import type { RefusalEntry } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import type { ConnectorObject, DeriveId, StoredConnectorObject } from './connector-object.ts'
import type { ConnectorObjectWrite } from './connector-object-store.ts'
import type { ConnectorRules } from './connector-rules.ts'
import type { PossiblyStaleObject } from './former-core-objects.ts'
import type { IdentityResolver } from './identity-resolver.ts'
import type { CoreObjectStub } from './merged-core-object.ts'
import type { ParentOf } from './org-tree.ts'

/** The outcome of one item. `id` is the id of the connector object. */
export type ItemOutcome =
  | {
      readonly outcome: 'created' | 'updated' | 'unchanged' | 'deleted'
      readonly id: string
      readonly warnings?: readonly ItemWarning[]
    }
  | { readonly outcome: 'refused'; readonly errors: readonly RefusalEntry[] }

/** What an item that was written lacks. `target` is a pointer into the item. */
export type ItemWarning = { readonly code: 'ReferenceUnresolved'; readonly target: string }

/** The state that a decision is based on. */
export type WriteContext = {
  readonly connectorId: string
  readonly rules: ConnectorRules
  /** The stored objects that the items name, by id. */
  readonly stored: ReadonlyMap<string, Versioned<ConnectorObject>>
  /** What is left under names that renamed objects of the items had before their former names, by id. */
  readonly earlierNames: ReadonlyMap<string, Versioned<ConnectorObject>>
  /** Resolves the identities connected to those of the items; undefined when the tenant has no other connector. */
  readonly identityResolver: IdentityResolver | undefined
  /** Returns the stored version of such an identity or of an item's object; undefined for a new object. */
  before(id: string): Versioned<StoredConnectorObject> | undefined
  readonly parentOf: ParentOf
  readonly derive: DeriveId
  newId(): string
  readonly nowMs: number
}

/** An object with another name than before. */
type Renamed = Pick<ConnectorObject, 'objectType' | 'externalId'> & { readonly formerId: string }

export type WriteDecision = {
  readonly outcome: ItemOutcome
  /** The item's object, and the identities that move to another core object with it. Empty when nothing changes. */
  readonly writes: readonly ConnectorObjectWrite[]
  /** Core objects that the writes may change. */
  readonly coreObjects: readonly CoreObjectStub[]
  /** Objects whose core object changes, so that references to them resolve to another core object. */
  readonly retargeted: readonly Pick<ConnectorObject, 'id' | 'objectType'>[]
  /** The object that is renamed, or was by an earlier attempt: references to its former id follow. */
  readonly renamed?: Renamed
  /** Objects whose core objects may be stale because an earlier write was interrupted before the merge. */
  readonly possiblyStale: readonly PossiblyStaleObject[]
}

/** A decision that writes nothing. */
export function refused(entry: RefusalEntry): WriteDecision {
  return {
    outcome: { outcome: 'refused', errors: [entry] },
    writes: [],
    coreObjects: [],
    retargeted: [],
    possiblyStale: [],
  }
}
