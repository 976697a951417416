import { isDeepStrictEqual } from 'node:util'
import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import type { ApiCalls, CallOptions, SoakReply } from './api-calls.ts'
import type { Callers } from './callers.ts'
import type { EventReceiver } from './event-receiver.ts'
import type { GroupWatch } from './group-watch.ts'
import type { ActionLocks } from './locks.ts'
import type { OrganisationModel } from './organisation-model.ts'
import type { SourceName } from './people-model.ts'
import { pickOf } from './picks.ts'
import type { RecentChanges } from './recent-changes.ts'
import type { KnownMails } from './sent-mails.ts'
import type { SoakTenant } from './soak-tenant.ts'
import type { SourceNames } from './source-names.ts'
import type { InstanceTimes } from './times.ts'

/** What the actions of a run work on. */
export type Organisation = {
  readonly tenant: SoakTenant
  readonly directoryUrl: string
  readonly callers: Callers
  readonly api: ApiCalls
  readonly model: OrganisationModel
  readonly watch: GroupWatch
  readonly locks: ActionLocks
  readonly recentChanges: RecentChanges
  readonly names: SourceNames
  readonly times: InstanceTimes
  readonly personCount: number
  readonly unitCount: number
  /** Whether the previous release runs beside this one. */
  readonly rollsBack: boolean
  /** Ids of the connectors. */
  readonly connectorIds: Readonly<Record<SourceName, string>>
  /** Identities that were deleted or came back since the last quiet point: their requests follow in the background. */
  readonly changedNins: Set<string>
  /** What changed since the last quiet point and is applied in the background: rules of sources, the day. */
  readonly pendingChanges: Set<SourceName | 'day'>
  /** Core ids by national identity number, as they were first read. */
  readonly coreIds: Map<string, string>
  /** National identity numbers by core id, also of identities that were merged into others. */
  readonly numbersByCoreId: Map<string, string>
  /** External ids of positions by core id, also of deleted ones. */
  readonly positionNames: Map<string, string>
  /** Of an identity that was merged: the core ids of both. One stays. */
  readonly formerCoreIds: Map<string, readonly string[]>
  /** People whose data were erased, and who have not come back. */
  readonly erasedNins: Set<string>
  /** Collections that were deleted. */
  readonly formerCollectionIds: Set<string>
  /** Receives all events. */
  readonly receiver: EventReceiver
  readonly subscriptionId: string
  /** The mails that were sent, by their id. */
  readonly mails: KnownMails
  /** Until when the mails that were sent tell of what a restore of the database has undone. */
  undoneUntilMs: number
  /** How often the outcomes occurred for which many things must come together. */
  readonly outcomeCounts: Map<string, number>
  /** A text that is unique in the run. */
  readonly unique: (kind: string) => string
}

export const CONNECTORS_PATH = '/iamcore/beta/sync/connectors'
export const CRITERIA_PATH = '/collections-criteria/beta'
export const JOINABLE_PATH = '/collections-joinable/beta'
export const REQUESTS_PATH = `${JOINABLE_PATH}/membership-requests`
export const LINKS_PATH = '/group-link/beta'

/** @throws Error when the answer has another status */
export async function expectStatus<Data>(
  { api }: Pick<Organisation, 'api'>,
  options: CallOptions,
  ...statuses: readonly number[]
): Promise<SoakReply<Data>> {
  const reply = await api.call<Data>(options)
  if (statuses.includes(reply.status)) return reply
  const retry = reply.isRetry ? ', not the first attempt' : ''
  throw new Error(
    `${options.method} ${options.path}: ${reply.status} ${JSON.stringify(reply.errors)}${retry}, sent ${JSON.stringify(options.body)?.slice(0, 400)}`,
  )
}

/** A record with all that was acknowledged before. */
export async function readWritten<Data>(organisation: Organisation, path: string): Promise<Data> {
  const { writer: token } = organisation.callers
  return (await expectStatus<Data>(organisation, { token, method: 'GET', path }, 200)).data
}

/** Whether what concerns a person has not changed lately, and no request of the person follows a change. */
export function isSettledPerson({ recentChanges, changedNins }: Organisation, nin: string): boolean {
  return !changedNins.has(nin) && recentChanges.isSettled([nin])
}

/** One of those about settled people; one of the others when there are none. */
export function pickSettled<T>(
  organisation: Organisation,
  random: Random,
  list: readonly T[],
  ninOf: (entry: T) => string,
): T {
  const settled = list.filter((entry) => isSettledPerson(organisation, ninOf(entry)))
  return pickOf(random, settled.length > 0 ? settled : list)
}

export function countOutcome({ outcomeCounts }: Organisation, outcome: string): void {
  outcomeCounts.set(outcome, (outcomeCounts.get(outcome) ?? 0) + 1)
}

/** Applies an acknowledged change to the model. */
export function apply({ model, watch, changedNins }: Organisation, change: () => void, onPeople?: PeopleChange): void {
  const before = onPeople && new Set(model.people.identities().keys())
  change()
  if (before !== undefined) {
    const after = new Set(model.people.identities().keys())
    for (const nin of before.symmetricDifference(after)) {
      changedNins.add(nin)
      onPeople?.(nin, after.has(nin))
    }
  }
  watch.observe()
}

type PeopleChange = (nin: string, isThere: boolean) => void

/** The first letter of an external id names its source. */
const SOURCE_OF_LETTER: Readonly<Record<string, SourceName>> = { P: 'hr', A: 'accounts', X: 'payroll', C: 'cards' }

/** The core identity of a person, read where it is not known yet. Undefined when the person has none now. */
export async function coreIdOf(organisation: Organisation, nin: string): Promise<string | undefined> {
  const known = organisation.coreIds.get(nin)
  if (known !== undefined) return known
  const identity = organisation.model.people.identities().get(nin)
  if (identity === undefined) return undefined
  const source = SOURCE_OF_LETTER[identity.externalId.charAt(0)]
  if (source === undefined) throw new Error(`No source has ${identity.externalId}`)
  const path = `${CONNECTORS_PATH}/${organisation.connectorIds[source]}/data/identity/${identity.externalId}`
  const { data } = await expectStatus<{ coreObjectId: string }>(
    organisation,
    { token: organisation.callers.connector, method: 'GET', path },
    200,
  )
  keepCoreId(organisation, nin, data.coreObjectId)
  return data.coreObjectId
}

export function keepCoreId({ coreIds, numbersByCoreId }: Organisation, nin: string, id: string): void {
  coreIds.set(nin, id)
  numbersByCoreId.set(id, nin)
}

/** The core relationship of a position that is there. */
export async function corePositionIdOf(organisation: Organisation, externalId: string): Promise<string> {
  const path = `${CONNECTORS_PATH}/${organisation.connectorIds.hr}/data/relationship/${externalId}`
  const options = { token: organisation.callers.connector, method: 'GET', path }
  const { data } = await expectStatus<{ coreObjectId: string }>(organisation, options, 200)
  return data.coreObjectId
}

/** A fault for each entry that differs, of two maps with comparable values. */
export function differences<Value>(
  what: string,
  expected: ReadonlyMap<string, Value>,
  actual: ReadonlyMap<string, Value>,
): string[] {
  const keys = new Set([...expected.keys(), ...actual.keys()])
  return [...keys].flatMap((key) => {
    const [first, second] = [expected.get(key), actual.get(key)]
    if (isDeepStrictEqual(first, second)) return []
    return [`${what} ${key}: expected ${JSON.stringify(first)}, found ${JSON.stringify(second)}`]
  })
}
