import assert from 'node:assert/strict'
import { it } from 'node:test'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { DatabaseSession } from '../../shared/cosmos/database-session.ts'
import { createLink } from '../../shared/domain/group-links/create-link.ts'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { STOPPED } from '../contract/instances.ts'
import { inProcess } from '../contract/local-database.ts'
import { identity, openAccountWorld } from './account-world.ts'
import { checkConvergence } from './lagging-property.ts'
import { TENANT, users } from './link-directory.ts'

const RUNS_COUNT = 60
/** `npm run soak:consistency` tries others. */
const SEED = 11

it('Instances with lagging replicas write every acknowledged change of the members to the group, with any faults', () =>
  checkConvergence({ runs: RUNS_COUNT, seed: SEED }))

it('An instance whose replica lags writes a change to the group of a link that another one has just synced', async () => {
  const world = await openAccountWorld({ databaseSharesClock: true })
  const newInstance = () => {
    const databaseSession = new DatabaseSession()
    return world.newService({ databaseSession, container: openDatabase(inProcess(world.cosmos), databaseSession) })
  }
  const [evaluating, linking, lagging] = [newInstance(), newInstance(), newInstance()]
  const source = await world.newSource()
  const collectionId = await world.criteria('Identity', 'identityDisplayName', 'Member')
  const directoryGroupId = await world.newGroup()
  const join = async (number: number) => {
    const [directoryObjectId = ''] = users(number, 1)
    await world.write(source, identity(`${number}`, { displayName: 'Member', directoryObjectId }))
    await evaluating.evaluator.evaluate(TENANT)
  }
  await join(0)
  assert.deepEqual(await lagging.links.links.ofCollection(TENANT, collectionId), [])
  world.cosmos.setReplicaLag({ ...STOPPED, containers: ['links'] })
  await createLink(TENANT, { collectionId, directoryGroupId }, linking.links)
  await world.drain(linking.links)
  assert.deepEqual(await world.membersOf(directoryGroupId), new Set(users(0, 1)))
  await join(1)
  await syncIncrementally({ tenantId: TENANT, collectionId }, lagging.links)
  assert.deepEqual(await world.membersOf(directoryGroupId), new Set(users(0, 2)))
  world.cosmos.setReplicaLag(undefined)
  await world.close()
})
