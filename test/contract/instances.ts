import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import type { Container } from '@azure/cosmos'
import { createContainers } from '../../infra/local/cosmos/local-account.ts'
import type { ReplicaLag } from '../../infra/local/cosmos/replicas.ts'
import { type LocalCosmos, startCosmos } from '../../infra/local/cosmos/server.ts'
import type { ContainerId } from '../../shared/cosmos/containers.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { DatabaseSession } from '../../shared/cosmos/database-session.ts'

/** An instance of the service: a client of the database with a session of its own. */
export type Instance = { readonly session: DatabaseSession; readonly container: (id: ContainerId) => Container }

/** A replica that gets no write: a read sees what its session has seen, by way of the primary, or nothing new at all. */
export const STOPPED: ReplicaLag = { behindWrites: Number.MAX_SAFE_INTEGER }

/** A database whose reads may be told to lag, for several instances. It ends with the file's tests. */
export async function databaseOfInstances(): Promise<{ cosmos: LocalCosmos; newInstance(): Instance }> {
  const key = randomBytes(64).toString('base64')
  const cosmos = await startCosmos({ port: 0, file: ':memory:', key, strict: true })
  after(() => cosmos.close())
  await createContainers(cosmos.endpoint, key)
  return {
    cosmos,
    newInstance() {
      const session = new DatabaseSession()
      return { session, container: openDatabase(cosmos, session) }
    },
  }
}
