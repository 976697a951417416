import { randomBytes } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { createContainers } from '../../infra/local/cosmos/local-account.ts'
import type { ReplicaLag } from '../../infra/local/cosmos/replicas.ts'
import { type LocalCosmos, startCosmos } from '../../infra/local/cosmos/server.ts'
import type { ContainerId } from '../../shared/cosmos/containers.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { DatabaseSession } from '../../shared/cosmos/database-session.ts'
import { inProcess } from './local-database.ts'

/** An instance of the service: a database client with its own session. */
export type Instance = { readonly session: DatabaseSession; readonly container: (id: ContainerId) => Container }

/** A replica that receives no writes. A read returns what its session has seen, from the primary, or the old state. */
export const STOPPED: ReplicaLag = { behindWrites: Number.MAX_SAFE_INTEGER }

/** A database with a configurable replica lag for several instances. It ends with the process. */
export async function databaseOfInstances(
  nowMs?: () => number,
): Promise<{ cosmos: LocalCosmos; newInstance(): Instance }> {
  const key = randomBytes(64).toString('base64')
  const clock = nowMs === undefined ? {} : { nowMs }
  const cosmos = await startCosmos({ port: 0, file: ':memory:', key, strict: true, ...clock })
  cosmos.unref()
  await createContainers(cosmos.endpoint, key, cosmos.httpClient)
  return {
    cosmos,
    newInstance() {
      const session = new DatabaseSession()
      return { session, container: openDatabase(inProcess(cosmos), session) }
    },
  }
}
