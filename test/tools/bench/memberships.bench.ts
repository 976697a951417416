import { randomUUID } from 'node:crypto'
import { joinableFixture } from '../../support/api/joinable-fixture.ts'

/**
 * The memberships of a person in 200 of a tenant's 5,000 criteria collections, each with 40 members: time and request
 * units of the first answer of a process, and of further ones. In between, other collections change.
 */
const COLLECTIONS_COUNT = 5_000
const OWN_COUNT = 200
const MEMBERS_COUNT = 40
const WARM_COUNT = 30
const MAX_MS = 100
const MAX_UNITS = 60

const { dispatcher } = await import('../../../shared/http/dispatch.ts')
const fixture = await joinableFixture(dispatcher)
const person = await fixture.person(['User'], { displayName: 'Kari', email: 'kari@example.org' })
const others: string[] = []
for (let index = 0; index < 2_000; index += 1) {
  others.push(await fixture.put('identity', { displayName: `Person ${index}`, email: `p${index}@example.org` }))
}
const leafOf = (values: readonly string[]) => ({ id: 'identityId', field: 'identityId', operator: 'In', value: values })
const first = await fixture.criteria('Identity', { groupOperator: 'AND', conditions: [leafOf([person.identityId])] })
const { resource: template } = await fixture.container('collections').item(first, fixture.tenantId).read()
for (let index = 1; index < COLLECTIONS_COUNT; index += 1) {
  const isOwn = index % (COLLECTIONS_COUNT / OWN_COUNT) === 0
  const from = (index * 7) % (others.length - MEMBERS_COUNT)
  const members = others.slice(from, from + MEMBERS_COUNT - 1)
  const leaf = leafOf(isOwn ? [person.identityId, ...members] : members)
  const definition = { groupOperator: 'AND', conditions: [leaf] }
  // As the API would store them, in less time.
  const stored = typeof template.definition === 'string' ? JSON.stringify(definition) : definition
  const { _etag, _ts, _rid, _self, _attachments, ...collection } = template
  await fixture.container('collections').items.create({ ...collection, id: randomUUID(), definition: stored })
}
await fixture.evaluator.evaluate(fixture.tenantId)

const path = `/collections/beta/memberships?identityId=${person.identityId}`
async function timed(): Promise<{ ms: number; units: number }> {
  const [startMs, before] = [performance.now(), fixture.cosmos.chargedUnits()]
  const { status, data } = await fixture.call<unknown[]>(fixture.writer, 'GET', path)
  const figures = { ms: performance.now() - startMs, units: fixture.cosmos.chargedUnits() - before }
  if (status !== 200 || data.length !== OWN_COUNT) throw new Error(`${status}: ${data?.length} memberships`)
  return figures
}

const cold = await timed()
// As for a tenant that has not changed for a while.
fixture.pass(3600)
const warm: { ms: number; units: number }[] = []
for (let index = 0; index < WARM_COUNT; index += 1) {
  if (index % 5 === 4) {
    await fixture.put('identity', { displayName: `Renamed ${index}`, email: `r${index}@example.org` }, others[index])
    await fixture.evaluator.evaluate(fixture.tenantId)
  }
  fixture.pass(10)
  warm.push(await timed())
}
const sorted = (figure: 'ms' | 'units') => warm.map((left) => left[figure]).sort((left, right) => left - right)
const at = (figure: 'ms' | 'units', share: number) => sorted(figure)[Math.floor(WARM_COUNT * share)] ?? Number.NaN
process.stdout.write(
  `${OWN_COUNT} memberships in ${COLLECTIONS_COUNT} collections: first ${cold.ms.toFixed(0)} ms, ` +
    `${cold.units.toFixed(0)} RU; further ones p50 ${at('ms', 0.5).toFixed(0)} ms, p95 ${at('ms', 0.95).toFixed(0)} ms ` +
    `(at most ${MAX_MS}), p95 ${at('units', 0.95).toFixed(1)} RU (at most ${MAX_UNITS})\n`,
)
process.exitCode = at('ms', 0.95) < MAX_MS && at('units', 0.95) < MAX_UNITS ? 0 : 1
