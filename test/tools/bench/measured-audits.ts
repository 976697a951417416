import type { ObjectWrite } from '../../../shared/domain/connectors/object-input.ts'
import { identity, openAccountFixture, position } from '../../support/jobs/account-fixture.ts'
import { TENANT } from '../../support/jobs/link-directory.ts'
import type { Work } from './scale-model.ts'

const PEOPLE_COUNT = 1_000
const CHANGES_COUNT = 100
const WRITTEN_TOGETHER_COUNT = 500
/** Longer than audits overlap. */
const QUIET_MS = 3 * 3_600_000

/** What audits of a tenant cost: without changes, what each change adds, and a complete audit per row. */
export async function measureAudits(): Promise<{
  readonly audit: Work
  readonly auditedChange: Work
  readonly auditedRow: Work
}> {
  const fixture = await openAccountFixture({ sharesClock: true, databaseSharesClock: true })
  const { messages } = fixture.newService()
  const source = await fixture.newSource()
  const names = Array.from({ length: PEOPLE_COUNT }, (_, index) => `${index}`)
  const write = async (objects: readonly ObjectWrite[]) => {
    for (let from = 0; from < objects.length; from += WRITTEN_TOGETHER_COUNT) {
      await fixture.write(source, ...objects.slice(from, from + WRITTEN_TOGETHER_COUNT))
    }
    await fixture.clock.sleep(QUIET_MS)
  }
  const audited = async (): Promise<Work> => {
    const operations = () => Object.values(fixture.cosmos.operations()).reduce((sum, count) => sum + count, 0)
    const [unitsBefore, operationsBefore] = [fixture.cosmos.chargedUnits(), operations()]
    await messages.audits.handle({ tenantId: TENANT })
    await fixture.clock.sleep(QUIET_MS)
    const requestUnits = fixture.cosmos.chargedUnits() - unitsBefore
    const storeOperations = operations() - operationsBefore
    return { requestUnits, storeOperations, messages: 1, executions: 1, directoryCalls: 0, directoryWrites: 0 }
  }
  await write(names.map((name) => identity(name, { displayName: name })))
  await write(names.map((name) => position(name, name)))
  const complete = await audited()
  const audit = await audited()
  await write(names.slice(0, CHANGES_COUNT).map((name) => identity(name, { displayName: `Changed ${name}` })))
  const withChanges = await audited()
  await fixture.close()
  return {
    audit,
    auditedChange: share(withChanges, audit, CHANGES_COUNT),
    auditedRow: share(complete, audit, 2 * PEOPLE_COUNT),
  }
}

/** The work that one more adds. */
function share(whole: Work, part: Work, count: number): Work {
  const of = (name: keyof Work) => Math.max(0, whole[name] - part[name]) / count
  return {
    requestUnits: of('requestUnits'),
    storeOperations: of('storeOperations'),
    messages: 0,
    executions: 0,
    directoryCalls: 0,
    directoryWrites: 0,
  }
}
