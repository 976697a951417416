import { type Static, Type } from 'typebox'
import { actorIdOf } from '../../kernel/caller.ts'
import { MAIL_ADDRESS_PATTERN } from '../../kernel/mail-address.ts'
import { Language } from '../../kernel/mail-language.ts'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, membersNamedIn, Nullable, OneOf } from '../../kernel/schema.ts'
import { isTimeZone, UTC } from '../../kernel/time-zone.ts'
import { Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import { requireIfMatch, retryOnConflict, revisionETag, type Versioned } from '../../kernel/versioned.ts'
import { type CollectionDependencies, notifyEvaluation } from '../collections/collection-dependencies.ts'
import { type AuditRecord, changedFields, hasChanges, SETTINGS_SUBJECT } from '../history/audit.ts'

/** Every instance then has the changed settings: `ROW_SETTINGS_CACHED_MS`. */
const EVALUATED_AGAIN_AFTER_MS = 30_000

const PERCENT_DEFAULT = 20
const MINIMUM_DEFAULT = 10

const LinkableGroups = Described(
  OneOf(['Any', 'Owned']),
  '`Owned`: only groups that the service principal of this service owns can be linked and synced. Otherwise 403 ' +
    '`GroupNotOwned`, whose message names the service principal.',
)
const Enabled = Described(Type.Boolean(), 'If false, removals are not limited. Takes effect with the next sync.')
const Percent = Type.Integer({
  minimum: 1,
  maximum: 100,
  description: 'Share of the users of a group that may be removed within 24 hours, in percent, rounded down.',
})
const Minimum = Type.Integer({
  minimum: 0,
  maximum: 10_000,
  description: 'Number of accounts that may be removed from a group of any size within 24 hours.',
})

const FourEyes = Described(
  Type.Boolean(),
  'If true, held removals are approved by another person than those who caused them: who made the last change of the ' +
    'definition or the policy behind them, also while they are held, or removed one of the accounts directly, or did so ' +
    'in a collection that the condition refers to. Where the first sync after a link was created or enabled holds removals ' +
    'that the history of members does not explain, as after a group was linked to another collection, who created or ' +
    'enabled the link and who made the last change of the definition count as well. Otherwise 403 `SameActor`.',
)

const TimeZoneName = Type.String({
  minLength: 1,
  maxLength: 64,
  description:
    'An IANA name such as `Europe/Oslo`; default `UTC`. Days begin in this zone: `Today()`, dates without a time in data, ' +
    'conditions and ends of memberships, and the day until which a position is active. A change is in the members within a ' +
    'minute. Another name is 400 `InvalidValue`.',
})
/** Addresses of operators of one tenant, at most. */
const MAX_OPERATORS = 10

const Operators = Type.Array(Type.String({ maxLength: 254, pattern: MAIL_ADDRESS_PATTERN }), {
  maxItems: MAX_OPERATORS,
  description:
    'Mail addresses that are told of failed and paused group links, held removals, late connectors and disabled event ' +
    'subscriptions.',
})
const MailLanguage = Described(
  Language,
  'The language of mails to operators, and to people whose `preferredLanguage` is neither English nor Norwegian.',
)

const RemovalGuard = Closed({ enabled: Enabled, percent: Percent, minimum: Minimum })
export type RemovalGuard = Readonly<Static<typeof RemovalGuard>>

/** A tenant's settings of group links. */
export const LinkSettingsDto = Closed({
  linkableGroups: LinkableGroups,
  removalGuard: Described(
    Closed({ ...RemovalGuard.properties, fourEyes: FourEyes }),
    'Limits how many accounts the service removes from a group within 24 hours: to the larger of `minimum` and ' +
      '`percent` of its users. Removals beyond the limit are held for approval.',
  ),
  timeZone: TimeZoneName,
  operators: Operators,
  language: MailLanguage,
  updatedAt: Described(Nullable(Timestamp), 'When the settings were last changed; null before the first change.'),
  updatedBy: Described(
    Nullable(Guid),
    'Object id (`oid`) of the user who last changed the settings; null before the first change.',
  ),
})
export type LinkSettingsDto = Static<typeof LinkSettingsDto>

/** Body of a change. Members that are left out keep their value. */
export const LinkSettingsChange = Type.Object({
  linkableGroups: Type.Optional(Nullable(LinkableGroups)),
  removalGuard: Type.Optional(
    Nullable(
      Type.Object({
        enabled: Type.Optional(Nullable(Enabled)),
        percent: Type.Optional(Nullable(Percent)),
        minimum: Type.Optional(Nullable(Minimum)),
        fourEyes: Type.Optional(Nullable(FourEyes)),
      }),
    ),
  ),
  timeZone: Type.Optional(Nullable(TimeZoneName)),
  operators: Type.Optional(Nullable(Operators)),
  language: Type.Optional(Nullable(MailLanguage)),
})
export type LinkSettingsChange = Static<typeof LinkSettingsChange>

/** Settings as stored. */
export const LinkSettings = Type.Object({
  ...LinkSettingsDto.properties,
  removalGuard: RemovalGuard,
  /** Beside the guard: the version before refuses members of the guard that it does not know. */
  fourEyes: Type.Boolean(),
  /** Increases with every change. */
  revision: Type.Integer(),
})
export type LinkSettings = Readonly<Static<typeof LinkSettings>>

export const DEFAULT_LINK_SETTINGS: LinkSettings = {
  linkableGroups: 'Any',
  removalGuard: { enabled: true, percent: PERCENT_DEFAULT, minimum: MINIMUM_DEFAULT },
  fourEyes: false,
  timeZone: UTC.name,
  operators: [],
  language: 'en',
  updatedAt: null,
  updatedBy: null,
  revision: 0,
}

/** Stored settings of group links, one record for each tenant. */
export interface LinkSettingsStore {
  /** Stores the default settings unless the tenant has settings. Further calls for a tenant cost nothing. */
  register(tenantId: string): Promise<void>
  /** By tenant, the time zones other than UTC. */
  timeZones(): Promise<ReadonlyMap<string, string>>
  /** The default settings for a tenant without a record. */
  find(tenantId: string): Promise<Versioned<LinkSettings>>
  /**
   * @param audit Written in the same transaction.
   * @throws Refusal `StaleVersion` when `version` is no longer current.
   */
  replace(
    tenantId: string,
    settings: LinkSettings,
    version: string,
    audit: AuditRecord | undefined,
  ): Promise<LinkSettings>
}

type SettingsDependencies = Pick<CollectionDependencies, 'messageQueue' | 'log' | 'newId' | 'nowMs'> & {
  readonly settings: LinkSettingsStore
}

export type SettingsUpdate = {
  readonly tenantId: string
  /** The caller's object id in the directory. */
  readonly callerId: string
  /** The core identity of the caller. */
  readonly identityId?: string | undefined
  readonly ifMatch: string | undefined
  readonly change: LinkSettingsChange
}

/**
 * Changes a tenant's settings. The collections are evaluated when its days begin elsewhere.
 * @throws Refusal `InvalidValue` for an unknown time zone, `PreconditionFailed`, `StaleVersion` after repeated conflicts.
 */
export async function updateLinkSettings(
  { tenantId, callerId, identityId, ifMatch, change }: SettingsUpdate,
  deps: SettingsDependencies,
): Promise<LinkSettings> {
  const { settings, newId, nowMs } = deps
  const { timeZone } = change
  if (timeZone && !isTimeZone(timeZone)) {
    throw new Refusal('InvalidValue', `There is no time zone ${timeZone}`, '/timeZone')
  }
  await settings.register(tenantId)
  const saved = await retryOnConflict(async () => {
    const { value, version } = await settings.find(tenantId)
    requireIfMatch(revisionETag(value), ifMatch)
    const updated: LinkSettings = {
      linkableGroups: change.linkableGroups ?? value.linkableGroups,
      removalGuard: {
        enabled: change.removalGuard?.enabled ?? value.removalGuard.enabled,
        percent: change.removalGuard?.percent ?? value.removalGuard.percent,
        minimum: change.removalGuard?.minimum ?? value.removalGuard.minimum,
      },
      fourEyes: change.removalGuard?.fourEyes ?? value.fourEyes,
      timeZone: timeZone ?? value.timeZone,
      operators: distinctAddresses(change.operators ?? value.operators),
      language: change.language ?? value.language,
      updatedAt: toTimestamp(nowMs()),
      updatedBy: callerId,
      revision: value.revision + 1,
    }
    const changed = changedFields(auditedFields(value), auditedFields(updated))
    const actorId = actorIdOf({ objectId: callerId, identityId })
    const record = { id: newId(), tenantId, subject: SETTINGS_SUBJECT, at: toTimestamp(nowMs()), actorId, linkId: null }
    const audit = { ...record, action: 'SettingsUpdated', ...changed } as const
    return settings.replace(tenantId, updated, version, hasChanges(changed) ? audit : undefined)
  })
  if (timeZone) {
    await notifyEvaluation(tenantId, deps)
    await notifyEvaluation(tenantId, deps, EVALUATED_AGAIN_AFTER_MS)
  }
  return saved
}

function auditedFields(settings: LinkSettings): Record<string, unknown> {
  const { linkableGroups, removalGuard, fourEyes, timeZone, operators, language } = settings
  return { linkableGroups, removalGuard: { ...removalGuard, fourEyes }, timeZone, operators, language }
}

/** Each address once; case does not matter. */
function distinctAddresses(addresses: readonly string[]): string[] {
  return [...new Map(addresses.map((address) => [address.toLowerCase(), address])).values()]
}

/** The members of the settings that clients see. */
export function toLinkSettingsDto(settings: LinkSettings): LinkSettingsDto {
  const { removalGuard, fourEyes } = settings
  return { ...membersNamedIn(LinkSettingsDto, settings), removalGuard: { ...removalGuard, fourEyes } }
}
