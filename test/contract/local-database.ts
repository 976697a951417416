import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import type { Container } from '@azure/cosmos'
import { createContainers } from '../../infra/local/cosmos/local-account.ts'
import { type LocalCosmos, startCosmos } from '../../infra/local/cosmos/server.ts'
import type { ContainerId } from '../../shared/cosmos/containers.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'

/** A database with all containers for one test file. It is closed after the file's tests. */
export async function localDatabase(): Promise<(id: ContainerId) => Container> {
  return (await localAccount()).container
}

export type LocalAccount = { readonly cosmos: LocalCosmos; readonly container: (id: ContainerId) => Container }

/** The same with the account itself, for tests that count operations or set its clock. */
export async function localAccount(nowMs?: () => number): Promise<LocalAccount> {
  const account = await startLocalAccount(nowMs)
  after(() => account.cosmos.close())
  return account
}

/** The same for callers that close the account themselves. */
export async function startLocalAccount(nowMs?: () => number): Promise<LocalAccount> {
  const key = randomBytes(64).toString('base64')
  const clock = nowMs === undefined ? {} : { nowMs }
  const cosmos = await startCosmos({ port: 0, file: ':memory:', key, strict: true, ...clock })
  await createContainers(cosmos.endpoint, key)
  return { cosmos, container: openDatabase({ endpoint: cosmos.endpoint, key }) }
}
