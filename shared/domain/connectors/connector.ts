import { type Static, Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, membersNamedIn, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'
import { isMatch, requireIfMatch, type Versioned } from '../../kernel/versioned.ts'
import type { AuditRecord } from '../history/audit.ts'
import { AttributeTypes } from './attribute-types.ts'

/** Deleted objects can be restored for this time, unless their connector sets another. */
export const SOFT_DELETION_DEFAULT_DAYS = 90
/** Ten years. A longer period is assumed to be a mistake. */
const SOFT_DELETION_LIMIT_DAYS = 3650

const Name = Type.String({ minLength: 1, maxLength: 256, pattern: '\\S' })
const BindsAccounts = Described(
  Type.Boolean(),
  'Whether the connector assigns directory accounts to identities (default true). If false, its `directoryObjectId` is ' +
    'ignored in joining and merging. A change takes effect within a minute, in tenants with several hundred thousand people ' +
    'within some minutes, without new data: accounts are released or taken, and identities that were one only by an ' +
    'account are split, or joined.',
)
const AUTHORITIES = ['Full', 'Supplement'] as const
const Authority = Described(
  OneOf(AUTHORITIES),
  'How far the connector is trusted (default `Full`). An identity of a `Supplement` connector only adds attributes, without ' +
    'overriding any, to the one identity that a `Full` connector carries and that shares a join key: it creates no ' +
    'identity, binds no account and sets no `primaryRelationship`. Until there is such an identity, it is kept and not ' +
    'merged. Org units and relationships are refused with `ConnectorSupplementsOnly`; those sent before leave as if ' +
    'deleted, and return with `Full`. A change takes effect within a minute, as one of `bindsAccounts` does.',
)
const JoinOn = Described(
  Type.Array(
    Type.String({
      maxLength: 107,
      pattern:
        '^(nin|directoryObjectId|directoryUserPrincipalName|email|employeeNumber|custom/[\\p{L}\\p{N}][\\p{L}\\p{N} _.-]{0,99})$',
    }),
    { minItems: 1, maxItems: 10, uniqueItems: true },
  ),
  'The attributes by which identities join those of other connectors, in the order in which they decide: `nin`, ' +
    '`directoryObjectId`, `directoryUserPrincipalName`, `email`, `employeeNumber` and `custom/<name>` (default `nin`, ' +
    '`directoryObjectId`). Texts compare as in searches, custom attributes by their type, and a list of one text as that ' +
    'text; a longer list is no key. A key counts between two identities when the connector of either lists it. The first ' +
    'key with a value on both sides decides, if it finds exactly one; otherwise none join, and `/coreobjects/duplicates` ' +
    'lists them. Two different `nin` are never one person. Who has joined stays while a key ' +
    'agrees. By the same keys, a deleted identity continues in another one of its connector. A change takes effect within a ' +
    'minute, as one of `bindsAccounts` does; `POST /connectors/{id}/plan` tells before whom it would concern. A key that no ' +
    'connector has listed before, that of a new connector too, joins no one until the service finds all identities by it, ' +
    'within the same time. Identities that arrive meanwhile are people of their own until then, in collections too: a new ' +
    'connector delivers a minute after it is created.',
)
const ExpectedIntervalHours = Type.Integer({ minimum: 1, maximum: 720 })
const SoftDeletionDays = Type.Integer({ minimum: 1, maximum: SOFT_DELETION_LIMIT_DAYS })

/** A source of core objects, with its own connector space. */
export const Connector = Closed({
  id: Guid,
  name: Name,
  /** Client id of the application that acts as the connector. Several connectors can share one. */
  clientId: Guid,
  /** Days for which deleted objects can be restored. */
  softDeletionDays: SoftDeletionDays,
  /** The objects of a disabled connector are kept, and writes to its space are refused. */
  enabled: Type.Boolean(),
  bindsAccounts: BindsAccounts,
  authority: Authority,
  joinOn: JoinOn,
  expectedIntervalHours: Described(
    Nullable(ExpectedIntervalHours),
    'The hours within which the connector is expected to send data; null (default) for no expectation.',
  ),
  attributeTypes: AttributeTypes,
  createdAt: Timestamp,
  /** Directory object id of the creator. */
  createdBy: Guid,
  updatedAt: Timestamp,
})
export type Connector = Static<typeof Connector> & {
  /**
   * The join keys of the tenant by which identities cannot be found yet, because some may have been stored without them
   * or by another type, with the time since when. Until all are stored, such a key joins no one, but keeps together who
   * has joined.
   */
  readonly keysPendingSinceMs?: Readonly<Record<string, number>>
}

export const NewConnector = Type.Object({
  name: Name,
  clientId: Guid,
  softDeletionDays: Type.Optional(SoftDeletionDays),
  enabled: Type.Optional(Type.Boolean()),
  bindsAccounts: Type.Optional(BindsAccounts),
  authority: Type.Optional(Authority),
  joinOn: Type.Optional(JoinOn),
  expectedIntervalHours: Type.Optional(Type.Union([ExpectedIntervalHours, Type.Null()], { default: null })),
  attributeTypes: Type.Optional(AttributeTypes),
})
export type NewConnector = Static<typeof NewConnector>

/** Members left out keep their values. */
export const ConnectorUpdate = Type.Partial(NewConnector)
export type ConnectorUpdate = Static<typeof ConnectorUpdate>

/** Settings of a connector that says nothing of them, or that was stored before they existed. */
export const CONNECTOR_DEFAULTS: Pick<
  Connector,
  'bindsAccounts' | 'authority' | 'joinOn' | 'expectedIntervalHours' | 'attributeTypes'
> = {
  bindsAccounts: true,
  authority: 'Full',
  joinOn: ['nin', 'directoryObjectId'],
  expectedIntervalHours: null,
  attributeTypes: [],
}

type ConnectorCreation = { readonly id: string; readonly createdBy: string; readonly createdAt: string }

/** Returns a new connector with defaults for the members left out. */
export function newConnector(input: NewConnector, creation: ConnectorCreation): Connector {
  const defaults = { softDeletionDays: SOFT_DELETION_DEFAULT_DAYS, enabled: true, ...CONNECTOR_DEFAULTS }
  return { ...defaults, ...membersNamedIn(NewConnector, input), ...creation, updatedAt: creation.createdAt }
}

/** Compares connectors by age, oldest first. The oldest connector's attributes take precedence. */
export function byCreation(left: Connector, right: Connector): number {
  return Date.parse(left.createdAt) - Date.parse(right.createdAt) || (left.id < right.id ? -1 : 1)
}

/** A connector as read, with the record of the change that wrote it, if there is one. */
export type StoredConnector = Versioned<Connector> & {
  readonly lastChange?: AuditRecord | undefined
  /** Versions with the same settings, which clients may have read. */
  readonly earlierVersions?: readonly string[] | undefined
}

/** Stores the connectors of each tenant. */
export interface ConnectorStore {
  /** Returns all connectors of a tenant, oldest first, including all earlier writes of all instances. */
  list(tenantId: string): Promise<Connector[]>
  /** Undefined when the connector does not exist. */
  find(tenantId: string, id: string): Promise<StoredConnector | undefined>
  /** @param change Stored with the connector. */
  add(tenantId: string, connector: Connector, change?: AuditRecord): Promise<void>
  /**
   * @param change Stored with the connector, in place of the former one.
   * @throws Refusal `StaleVersion` when `version` is no longer current, `ConnectorNotFound`.
   */
  replace(tenantId: string, connector: Connector, version: string, change?: AuditRecord): Promise<Versioned<Connector>>
  /**
   * Replaces the pending join keys of a connector, and no setting.
   * @throws Refusal `StaleVersion` when its version is no longer current, `ConnectorNotFound`.
   */
  replacePendingKeys(tenantId: string, connector: StoredConnector): Promise<void>
  /** @throws Refusal `StaleVersion` when `version` is no longer current, `ConnectorNotFound`. */
  remove(tenantId: string, id: string, version: string): Promise<void>
}

/** @throws Refusal `PreconditionFailed` when `If-Match` contains no version with the present settings. */
export function requireSettings({ version, earlierVersions = [] }: StoredConnector, ifMatch: string | undefined): void {
  if (!earlierVersions.some((earlier) => isMatch(earlier, ifMatch))) requireIfMatch(version, ifMatch)
}

/** @throws Refusal `ConnectorNotFound`. */
export async function requireConnector(
  tenantId: string,
  id: string,
  connectors: ConnectorStore,
): Promise<StoredConnector> {
  const found = await connectors.find(tenantId, id)
  if (found === undefined) throw connectorNotFound(id)
  return found
}

export const connectorNotFound = (id: string): Refusal =>
  new Refusal('ConnectorNotFound', `There is no connector ${id}`)
