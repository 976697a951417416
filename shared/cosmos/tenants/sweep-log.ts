import type { Container } from '@azure/cosmos'
import { type Static, Type } from 'typebox'
import { EvaluatedUntil } from '../../domain/evaluation/evaluation-lease.ts'
import { minuteOfTenant } from '../../domain/group-links/tenant-store.ts'
import { DAY_MS } from '../../kernel/timestamp.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { versionedDocumentParser } from '../document-parser.ts'
import { readDocument, saveCurrent } from '../documents.ts'

/** Id of the document that registers a tenant, in the tenant's partition of container `tenants`. */
export const REGISTRATION_ID = 'registration'

/** A sweep that has found links unchanged, and the key of the stored list of these links. */
export type LoggedSweep = { readonly startMs: number; readonly endMs: number; readonly listKey: string }

const SweepLog = Type.Object({
  /** Key of each list, and when it was last stored. */
  lists: Type.Array(Type.Object({ key: Type.String(), storedAtMs: Type.Number() })),
  /** Start, end, and the index of the list. Oldest first. */
  sweeps: Type.Array(Type.Array(Type.Number(), { minItems: 3, maxItems: 3 })),
})

/** A tenant, its last sweep, and the sweeps whose jobs are kept. */
const Registration = Type.Object({
  id: Type.Literal(REGISTRATION_ID),
  tenantId: Type.String(),
  sweepMinute: Type.Integer(),
  /** When the last sweep ended; absent before the first. */
  sweptAtMs: Type.Optional(Type.Number()),
  /** How long it took, until this was written. */
  sweptForMs: Type.Optional(Type.Number()),
  /** What evaluations had covered by then, if none was due. */
  evaluated: Type.Optional(EvaluatedUntil),
  /** When a sweep last looked for ends of memberships. */
  deadlinesReadAtMs: Type.Optional(Type.Number()),
  sweepLog: Type.Optional(SweepLog),
})
export type Registration = Readonly<Static<typeof Registration>>

const { parse } = versionedDocumentParser('tenant registration', Registration)

export const newRegistration = (tenantId: string): Registration => {
  return { id: REGISTRATION_ID, tenantId, sweepMinute: minuteOfTenant(tenantId) }
}

/** A registration, and when it was last written, in seconds of the database's clock. */
type StoredRegistration = Versioned<Registration> & { readonly writtenAtS: number }

export async function readRegistration(tenants: Container, tenantId: string): Promise<StoredRegistration | undefined> {
  const document = await readDocument(tenants, REGISTRATION_ID, tenantId)
  return document && { ...parse(document), writtenAtS: document._ts }
}

/**
 * Times of writes are in whole seconds, and are set before a write is visible. The client sends a throttled write again for
 * up to 30 seconds.
 */
const OVERLAP_S = 60

/** The last sweep has read what was written before. */
export function readUntilS(found: StoredRegistration | undefined): number | undefined {
  if (found?.value.sweptForMs === undefined) return undefined
  return found.writtenAtS - Math.ceil(found.value.sweptForMs / 1000) - OVERLAP_S
}

/** @param version Undefined to create it. @throws Refusal `StaleVersion` when others have written it. */
export async function saveRegistration(
  tenants: Container,
  registration: Registration,
  version: string | undefined,
): Promise<void> {
  await saveCurrent(tenants, registration.tenantId, registration, version)
}

/** Oldest first. */
export function loggedSweeps({ sweepLog }: Registration): LoggedSweep[] {
  return (sweepLog?.sweeps ?? []).map(([startMs = 0, endMs = 0, index = 0]) => {
    return { startMs, endMs, listKey: sweepLog?.lists[index]?.key ?? '' }
  })
}

/** The sweeps whose jobs are kept. Their lists can be missing after a restore of the database: each is stored again. */
export function jobsOfSweeps({ sweepLog }: Registration): Pick<Registration, 'sweepLog'> {
  if (sweepLog === undefined) return {}
  return { sweepLog: { ...sweepLog, lists: sweepLog.lists.map(({ key }) => ({ key, storedAtMs: 0 })) } }
}

/** A list is stored again after this time, so that it exists as long as the jobs of sweeps that name it. */
export const LIST_STORED_AGAIN_AFTER_MS = DAY_MS

/** Whether a sweep at this time can name the stored list. */
export function hasList({ sweepLog }: Registration, key: string, startMs: number): boolean {
  const stored = sweepLog?.lists.find((list) => list.key === key)
  return stored !== undefined && Math.abs(startMs - stored.storedAtMs) < LIST_STORED_AGAIN_AFTER_MS
}

/** The registration with a further sweep, and without those before `fromMs`. */
export function withSweep(registration: Registration, sweep: LoggedSweep, fromMs: number): Registration {
  const { startMs, listKey } = sweep
  const kept = loggedSweeps(registration).filter((sweep) => sweep.startMs >= fromMs)
  const sweeps = [...kept, sweep].sort((left, right) => left.startMs - right.startMs)
  const keys = [...new Set(sweeps.map((entry) => entry.listKey))]
  const storedAtMs = new Map(registration.sweepLog?.lists.map((list) => [list.key, list.storedAtMs]))
  if (!hasList(registration, listKey, startMs)) storedAtMs.set(listKey, startMs)
  const lists = keys.map((key) => ({ key, storedAtMs: storedAtMs.get(key) ?? 0 }))
  const packed = sweeps.map((entry) => [entry.startMs, entry.endMs, keys.indexOf(entry.listKey)])
  return { ...registration, sweepLog: { lists, sweeps: packed } }
}
