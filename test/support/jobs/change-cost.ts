import { randomUUID } from 'node:crypto'
import type { CoreObjectWrite } from '../../../shared/domain/connectors/merge-writes.ts'
import { createLink } from '../../../shared/domain/group-links/create-link.ts'
import { chunk } from '../../../shared/kernel/chunk.ts'
import { identity, openAccountFixture } from './account-fixture.ts'
import { directorySeed, TENANT, user, users } from './link-directory.ts'

const NAME = 'Member'
/** Longer than reads of rows overlap, and than a window of the write budget. */
const QUIET_MS = 10 * 60_000
const WRITTEN_TOGETHER_COUNT = 2_000

/** A person whom no connector has delivered: 200,000 of them take seconds. */
function newMember(account: string): CoreObjectWrite {
  const attributes = { displayName: NAME, directoryObjectId: account }
  const id = randomUUID()
  const names = { id, objectType: 'identity', externalId: id } as const
  return { object: { ...names, attributes, contributors: [], deleted: false }, version: undefined }
}

/** Request units of each step of one change. */
export type ChangeCost = { readonly write: number; readonly evaluation: number; readonly sync: number }

/**
 * The request units of one person who becomes a member of a linked collection of this size, in an instance that has the
 * tenant in memory: the delivery of the connector, the evaluation, and the write to the group.
 */
export async function costOfChange(size: number): Promise<ChangeCost> {
  const members = users(0, size)
  const properties = { groupTypes: [], mailEnabled: false, securityEnabled: true }
  const group = { id: randomUUID(), displayName: 'A group', properties, memberIds: members }
  const seed = directorySeed(size + 1, [group])
  const fixture = await openAccountFixture({ sharesClock: true, databaseSharesClock: true, seed })
  const { links, evaluator, connectors } = fixture.newService()
  const source = await fixture.newSource()
  const person = (account: number, displayName: string) =>
    identity(`${account}`, { displayName, directoryObjectId: user(account) })
  for (const batch of chunk(members, WRITTEN_TOGETHER_COUNT)) {
    await connectors.coreObjects.write(TENANT, batch.map(newMember), 1)
  }
  await fixture.writeThrough({ connectors }, source, person(size, 'Guest'))
  const collectionId = await fixture.criteria('Identity', 'identityDisplayName', NAME)
  await evaluator.evaluate(TENANT)
  await createLink(TENANT, { collectionId, directoryGroupId: group.id }, links)
  await fixture.drain(links)
  await fixture.clock.sleep(QUIET_MS)
  // With the first change after them, the rows that were loaded are read once more, and the new link is found.
  for (const name of [NAME, 'Visitor']) {
    await fixture.writeThrough({ connectors }, source, person(size, name))
    await evaluator.evaluate(TENANT)
    await fixture.drain(links)
  }
  await fixture.clock.sleep(QUIET_MS)
  const unitsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = fixture.cosmos.chargedUnits()
    await work()
    return fixture.cosmos.chargedUnits() - before
  }
  const cost: ChangeCost = {
    write: await unitsOf(() => fixture.writeThrough({ connectors }, source, person(size, NAME))),
    evaluation: await unitsOf(() => evaluator.evaluate(TENANT)),
    sync: await unitsOf(() => fixture.drain(links)),
  }
  const written = await fixture.membersOf(group.id)
  await fixture.close()
  if (written.size !== size + 1) throw new Error(`The group has ${written.size} members`)
  return cost
}
