import { type Static, Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described, Guid, Nullable } from '../../kernel/schema.ts'
import { instantIn, type TimeZone } from '../../kernel/time-zone.ts'
import { DAY_MS, Timestamp, toTimestamp } from '../../kernel/timestamp.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { Deputy } from './deputies.ts'
import { DateInput, futureEndMs } from './ends.ts'
import { freshOrgChart, type OrgChartSource, type Person, type RequestDependencies } from './request-dependencies.ts'

const MAX_DAYS = 180

/** Body of PUT. */
export const DeputyInput = Type.Object({
  deputyId: Guid,
  from: Type.Optional(DateInput),
  until: DateInput,
})

export const DeputyDto = Closed({
  identityId: Described(Guid, 'The identity that is represented.'),
  deputyId: Guid,
  deputyName: Described(Nullable(Type.String()), 'The current display name of the deputy; null without one.'),
  from: Timestamp,
  until: Described(Timestamp, 'Exclusive.'),
})
export type DeputyDto = Static<typeof DeputyDto>

type DeputyDependencies = OrgChartSource & Pick<RequestDependencies, 'deputies'>

/** Returns the deputy of a person; null when there is none now or later. @throws Refusal `IdentityNotFound`. */
export async function readDeputy(
  { tenantId, identityId }: Person,
  deps: DeputyDependencies,
): Promise<DeputyDto | null> {
  const orgChart = await requireIdentity(tenantId, identityId, deps)
  const found = await deps.deputies.find(tenantId, identityId)
  return found === undefined ? null : toDeputyDto(found.value, orgChart)
}

/**
 * Sets or replaces the deputy of a person.
 * @throws Refusal `InvalidEnd`, `InvalidPeriod`, `DeputyIsSelf`, `IdentityUnknown`, `IdentityNotFound`.
 */
export async function setDeputy(
  { tenantId, identityId }: Person,
  { deputyId, from, until }: Static<typeof DeputyInput>,
  deps: DeputyDependencies,
): Promise<DeputyDto> {
  const nowMs = deps.nowMs()
  const orgChart = await requireIdentity(tenantId, identityId, deps)
  const untilMs = futureEndMs(until, orgChart.zone, nowMs, '/until')
  const fromMs = from === undefined ? nowMs : instantIn(orgChart.zone, from)
  if (fromMs === undefined || fromMs >= untilMs || untilMs > lastEndMs(fromMs, orgChart.zone)) {
    throw new Refusal(
      'InvalidPeriod',
      `From ${from ?? 'now'} until ${until} is not a time of up to ${MAX_DAYS} days`,
      '/from',
    )
  }
  if (deputyId === identityId) throw new Refusal('DeputyIsSelf', undefined, '/deputyId')
  if (!orgChart.has('identity', deputyId)) {
    throw new Refusal('IdentityUnknown', `There is no identity ${deputyId}`, '/deputyId')
  }
  const deputy: Deputy = { tenantId, identityId, deputyId, fromMs, untilMs }
  await deps.deputies.save(deputy)
  return toDeputyDto(deputy, orgChart)
}

/** By the calendar or by the clock, whichever is later: the two differ when clocks are put back or forward meanwhile. */
function lastEndMs(fromMs: number, zone: TimeZone): number {
  return Math.max(zone.addDays(fromMs, MAX_DAYS), fromMs + MAX_DAYS * DAY_MS)
}

/** Does nothing when the person has no deputy. @throws Refusal `IdentityNotFound`. */
export async function removeDeputy({ tenantId, identityId }: Person, deps: DeputyDependencies): Promise<void> {
  await requireIdentity(tenantId, identityId, deps)
  await deps.deputies.remove(tenantId, identityId)
}

async function requireIdentity(tenantId: string, identityId: string, deps: OrgChartSource): Promise<OrgChart> {
  const orgChart = await freshOrgChart(tenantId, deps)
  if (orgChart.has('identity', identityId)) return orgChart
  throw new Refusal('IdentityNotFound', `There is no identity ${identityId}`)
}

function toDeputyDto({ identityId, deputyId, fromMs, untilMs }: Deputy, { rows }: OrgChart): DeputyDto {
  const deputyName = rows.textOf('identity', 'displayName', deputyId) ?? null
  return { identityId, deputyId, deputyName, from: toTimestamp(fromMs), until: toTimestamp(untilMs) }
}
