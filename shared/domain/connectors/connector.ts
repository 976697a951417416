import { type Static, Type } from 'typebox'
import { Closed, Guid } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'

/** Decisions, section 4. */
const SOFT_DELETION_DEFAULT_DAYS = 90
/** Ten years: beyond it, an entry is a mistake. */
const SOFT_DELETION_LIMIT_DAYS = 3650

const Name = Type.String({ minLength: 1, maxLength: 256, pattern: '\\S' })
const SoftDeletionDays = Type.Integer({ minimum: 1, maximum: SOFT_DELETION_LIMIT_DAYS })

/** A source of core objects: the application that may write to its connector space, and what becomes of deleted objects. */
export const Connector = Closed({
  id: Guid,
  name: Name,
  /** The application that acts as the connector. Several connectors may share one. */
  clientId: Guid,
  /** Days for which deleted objects can be restored. */
  softDeletionDays: SoftDeletionDays,
  /** A disabled connector's objects stay; nothing can be written to its space. */
  enabled: Type.Boolean(),
  createdAt: Timestamp,
  /** The creator's object id in the directory. */
  createdBy: Guid,
  updatedAt: Timestamp,
})
export type Connector = Static<typeof Connector>

export const NewConnector = Type.Object({
  name: Name,
  clientId: Guid,
  softDeletionDays: Type.Optional(SoftDeletionDays),
  enabled: Type.Optional(Type.Boolean()),
})
export type NewConnector = Static<typeof NewConnector>

/** What is left out keeps its value. */
export const ConnectorUpdate = Type.Partial(NewConnector)
export type ConnectorUpdate = Static<typeof ConnectorUpdate>

type Creation = { readonly id: string; readonly createdBy: string; readonly createdAt: string }

/** The record of a new connector. */
export function newConnector(input: NewConnector, { id, createdBy, createdAt }: Creation): Connector {
  return {
    id,
    name: input.name,
    clientId: input.clientId,
    softDeletionDays: input.softDeletionDays ?? SOFT_DELETION_DEFAULT_DAYS,
    enabled: input.enabled ?? true,
    createdAt,
    createdBy,
    updatedAt: createdAt,
  }
}

/** Oldest first: the order in which connectors' attributes win. */
export function byCreation(one: Connector, other: Connector): number {
  return Date.parse(one.createdAt) - Date.parse(other.createdAt) || (one.id < other.id ? -1 : 1)
}

/** Milliseconds for the next connector's `createdAt`: later than every other's, so that the order of creation is plain. */
export function nextCreationMs(existing: readonly Connector[], nowMs: number): number {
  return Math.max(nowMs, ...existing.map(({ createdAt }) => Date.parse(createdAt) + 1))
}
