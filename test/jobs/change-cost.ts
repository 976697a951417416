import { createLink } from '../../shared/domain/group-links/create-link.ts'
import { identity, openAccountWorld } from './account-world.ts'
import { TENANT, user, users } from './link-directory.ts'

const NAME = 'Member'
/** Longer than reads of rows overlap, and than a window of the write budget. */
const QUIET_MS = 10 * 60_000
const WRITTEN_TOGETHER_COUNT = 500

/** Request units of each step of one change. */
export type ChangeCost = { readonly write: number; readonly evaluation: number; readonly sync: number }

/**
 * The request units of one person who becomes a member of a linked collection of this size, in an instance that has the
 * tenant in memory: the delivery of the connector, the evaluation, and the write to the group.
 */
export async function costOfChange(size: number): Promise<ChangeCost> {
  const world = await openAccountWorld({ sharesClock: true, databaseSharesClock: true })
  const { links, evaluator, connectors } = world.newService()
  const source = await world.newSource()
  const person = (account: number, displayName: string) =>
    identity(`${account}`, { displayName, directoryObjectId: user(account) })
  for (let from = 0; from < size; from += WRITTEN_TOGETHER_COUNT) {
    const count = Math.min(WRITTEN_TOGETHER_COUNT, size - from)
    const people = Array.from({ length: count }, (_, index) => person(from + index, NAME))
    await world.writeThrough({ connectors }, source, ...people)
  }
  await world.writeThrough({ connectors }, source, person(size, 'Guest'))
  const collectionId = await world.criteria('Identity', 'identityDisplayName', NAME)
  const directoryGroupId = await world.newGroup({}, users(0, size))
  await evaluator.evaluate(TENANT)
  await createLink(TENANT, { collectionId, directoryGroupId }, links)
  await world.drain(links)
  await world.clock.sleep(QUIET_MS)
  // With the first change after them, the rows that were loaded are read once more, and the new link is found.
  for (const name of [NAME, 'Visitor']) {
    await world.writeThrough({ connectors }, source, person(size, name))
    await evaluator.evaluate(TENANT)
    await world.drain(links)
  }
  await world.clock.sleep(QUIET_MS)
  const unitsOf = async (work: () => Promise<unknown>): Promise<number> => {
    const before = world.cosmos.chargedUnits()
    await work()
    return world.cosmos.chargedUnits() - before
  }
  const cost: ChangeCost = {
    write: await unitsOf(() => world.writeThrough({ connectors }, source, person(size, NAME))),
    evaluation: await unitsOf(() => evaluator.evaluate(TENANT)),
    sync: await unitsOf(() => world.drain(links)),
  }
  const members = await world.membersOf(directoryGroupId)
  await world.close()
  if (members.size !== size + 1) throw new Error(`The group has ${members.size} members`)
  return cost
}
