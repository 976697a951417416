import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import type { Container } from '@azure/cosmos'
import { startCosmos } from '../../infra/local/cosmos/server.ts'
import { createContainers } from '../../infra/local/create-containers.ts'
import type { ContainerId } from '../../shared/cosmos/containers.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'

/** A database of its own for a test file, with all containers; it ends with the file's tests. */
export async function localDatabase(): Promise<(id: ContainerId) => Container> {
  const key = randomBytes(64).toString('base64')
  const cosmos = await startCosmos({ port: 0, file: ':memory:', key, strict: true })
  after(() => cosmos.close())
  await createContainers(cosmos.endpoint, key)
  return openDatabase({ endpoint: cosmos.endpoint, key })
}
