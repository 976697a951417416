import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import type { Container } from '@azure/cosmos'
import { parseLag, type ReplicaLag } from '../../infra/local/cosmos/replicas.ts'
import { type LocalCosmos, startCosmos } from '../../infra/local/cosmos/server.ts'
import { createContainers } from '../../infra/local/create-containers.ts'
import type { ContainerId } from '../../shared/cosmos/containers.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'

/**
 * The lag of the replica that answers reads in tests, as `REPLICA_LAG` says it in the form of `POST /local/replicas`:
 * with `REPLICA_LAG='{"behindWrites":1000}'` a read sees only what the session of its client has seen. Default: none.
 */
export function testLag(): { readonly replicaLag?: ReplicaLag } {
  const replicaLag = parseLag(process.env.REPLICA_LAG ?? '{}')
  return replicaLag === undefined ? {} : { replicaLag }
}

/** A database of its own for a test file, with all containers; it ends with the file's tests. */
export async function localDatabase(): Promise<(id: ContainerId) => Container> {
  return (await localAccount()).container
}

/** The same with the account itself, for tests that count operations or set its clock. */
export async function localAccount(
  nowMs?: () => number,
): Promise<{ cosmos: LocalCosmos; container: (id: ContainerId) => Container }> {
  const key = randomBytes(64).toString('base64')
  const clock = nowMs === undefined ? {} : { nowMs }
  const cosmos = await startCosmos({ port: 0, file: ':memory:', key, strict: true, ...clock, ...testLag() })
  after(() => cosmos.close())
  await createContainers(cosmos.endpoint, key)
  return { cosmos, container: openDatabase({ endpoint: cosmos.endpoint, key }) }
}
