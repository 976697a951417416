import { signal } from '@preact/signals'
import type { AuditEntry } from '../../shared/domain/insight/list-audit.ts'
import type { Api } from './api.ts'

/** A saved change that can be undone for some time. */
type UndoableChange = {
  readonly collectionId: string
  readonly name: string
  /** The version before the change. */
  readonly version: string
  readonly untilMs: number
}

/** Milliseconds for which a saved change is offered to be undone. */
const UNDOABLE_FOR_MS = 600_000

/** The last saved change of this session; undefined when none can be undone. */
export const undoable = signal<UndoableChange | undefined>(undefined)

export function offerUndo(change: Omit<UndoableChange, 'untilMs'>, nowMs: number): void {
  undoable.value = { ...change, untilMs: nowMs + UNDOABLE_FOR_MS }
}

/** The page that restores a version of a collection. */
export const restorePath = (collectionId: string, version: string): string =>
  `/collections/${collectionId}/restore/${version}`

const ENTRIES_PER_PAGE = 50

/** The version that is saved now. Undefined for a collection that is older than its audit. */
export async function newestVersion(api: Api, collectionId: string): Promise<string | undefined> {
  const path = `/collections/beta/${collectionId}/audit?pageSize=${ENTRIES_PER_PAGE}`
  for await (const { version } of api.each<AuditEntry>(path)) if (version !== null) return version
  return undefined
}
