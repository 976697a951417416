import { randomBytes } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { type LocalCosmos, startCosmos } from '../../../infra/local/cosmos/cosmos-server.ts'
import { createContainers } from '../../../infra/local/cosmos/local-account.ts'
import type { ContainerId } from '../../../shared/cosmos/containers.ts'
import { openDatabase } from '../../../shared/cosmos/database.ts'
import { directDatabase } from './direct-database.ts'

/** The account for `openDatabase` without connections and signatures, which take a fifth of the time of a test. */
export function inProcess({ endpoint, httpClient }: LocalCosmos): Pick<LocalCosmos, 'endpoint' | 'httpClient'> {
  return { endpoint, httpClient }
}

/** A database with all containers for one test file. It ends with the process, which other files share. */
export async function localDatabase(): Promise<(id: ContainerId) => Container> {
  return (await localAccount()).container
}

export type LocalAccount = { readonly cosmos: LocalCosmos; readonly container: (id: ContainerId) => Container }

/** A database with its account, for tests that count operations or set its clock. */
export async function localAccount(nowMs?: () => number): Promise<LocalAccount> {
  const account = await startLocalAccount(nowMs)
  account.cosmos.unref()
  return account
}

/** A database without the SDK, for properties with thousands of runs. The caller closes the account. */
export async function startDirectAccount(nowMs?: () => number): Promise<LocalAccount> {
  const { cosmos } = await startLocalAccount(nowMs)
  return { cosmos, container: directDatabase(cosmos) }
}

/** The operations that the work asks of the database, by name. */
export async function operationsDuring(
  { cosmos }: Pick<LocalAccount, 'cosmos'>,
  work: () => Promise<unknown>,
): Promise<Record<string, number>> {
  const before: Record<string, number> = { ...cosmos.operations() }
  await work()
  const grown = Object.entries(cosmos.operations()).map(([name, count]) => [name, count - (before[name] ?? 0)] as const)
  return Object.fromEntries(grown.filter(([, count]) => count > 0))
}

/** A database whose account the caller closes. */
export async function startLocalAccount(nowMs?: () => number): Promise<LocalAccount> {
  const key = randomBytes(64).toString('base64')
  const clock = nowMs === undefined ? {} : { nowMs }
  const cosmos = await startCosmos({ port: 0, file: ':memory:', key, strict: true, ...clock })
  await createContainers(cosmos.endpoint, key, cosmos.httpClient)
  return { cosmos, container: openDatabase(inProcess(cosmos)) }
}
