import type { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
import type { JsonObject } from '../../shared/kernel/json.ts'
import type { DefinitionFile, FileFault } from './definition-file.ts'

/** A request that makes one change. Ids of collections that are not created yet are placeholders. */
export type Step = {
  readonly action: 'create' | 'update' | 'delete'
  readonly kind: 'criteria' | 'joinable' | 'link' | 'settings'
  /** Of the collection, or of the group of a link. */
  readonly name: string
  readonly file: DefinitionFile | undefined
  /** What changes: member names, or a few words. */
  readonly fields: readonly string[]
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: JsonObject
  /** The version of the record that the step changes. */
  readonly etag?: string | undefined
  /** The placeholder of the id that the response holds. */
  readonly creates?: string
  /** Where the effect is planned. */
  readonly planPath?: string
  /** What saving does. Undefined where it depends on earlier steps. */
  readonly effect?: ChangePlan | undefined
  /** Collections that affect each other have the same group. */
  readonly group?: string
  /** Accounts that the first sync of a link adds and removes. */
  readonly accounts?: { readonly toAdd: number; readonly toRemove: number }
  /** Members that a deleted collection has. */
  readonly memberCount?: number
  readonly note?: string
}

export type DefinitionPlan = {
  readonly steps: readonly Step[]
  readonly faults: readonly FileFault[]
  /** Names of groups by id. */
  readonly groupNames: ReadonlyMap<string, string>
}

/** A planned step, or the mistakes that prevent it. */
export type Planned = { readonly steps: readonly Step[]; readonly faults: readonly FileFault[] }
