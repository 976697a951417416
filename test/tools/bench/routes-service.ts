import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { startEnvironment } from '../../../infra/local/environment.ts'
import { readLocalOptions } from '../../../infra/local/options.ts'
import { openDatabase } from '../../../shared/cosmos/database.ts'
import { loadSizedTenant, TENANT_ID } from './sized-tenant.ts'

/** How to call what this process serves. */
export type ServedRoutes = { readonly apiUrl: string; readonly tokens: Readonly<Record<string, string>> }

/** What a measured call did to the process, since the one before. */
export type ServiceStrain = { readonly stallMs: number; readonly memoryMB: number; readonly operationCount: number }

/** A caller: an application with roles, or the user whose account this is. */
export type CallerWish = { readonly roles: readonly string[]; readonly account?: string }

/**
 * The process that `routes.bench.ts` measures: the service as it is, with a tenant as large as they come in a data
 * folder that the next run finds again. Usage: `node test/tools/bench/routes-service.ts <data folder> <callers as JSON>`.
 */
const [dataFolder = '', wishes = '{}'] = process.argv.slice(2)
const environment = await startEnvironment(
  readLocalOptions({ PORT: '0', DIRECTORY_PORT: '0', DATA_DIR: dataFolder, DEMO_IDENTITIES: '0' }),
  () => undefined,
)
const isLoaded = join(dataFolder, 'sized-tenant-is-loaded')
if (!existsSync(isLoaded)) {
  const { COSMOS_ENDPOINT: endpoint = '', COSMOS_KEY: key = '' } = process.env
  await loadSizedTenant(openDatabase({ endpoint, key }))
  writeFileSync(isLoaded, '')
}
const tokens: Record<string, string> = {}
for (const [name, wish] of Object.entries(JSON.parse(wishes) as Record<string, CallerWish>)) {
  tokens[name] = await tokenOf(wish)
}
process.send?.({ apiUrl: environment.apiUrl, tokens } satisfies ServedRoutes)

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()
let operationsBefore = 0
process.on('message', async () => {
  const { storeOperations } = await environment.workDone()
  process.send?.({
    stallMs: delay.max / 1e6,
    memoryMB: Math.round(process.memoryUsage.rss() / 1e6),
    operationCount: storeOperations - operationsBefore,
  } satisfies ServiceStrain)
  operationsBefore = storeOperations
  delay.reset()
})
process.once('disconnect', () => environment.close())

async function tokenOf({ roles, account }: CallerWish): Promise<string> {
  const nowS = Math.floor(Date.now() / 1000)
  const oid = account ?? crypto.randomUUID()
  const claims = {
    iss: `${environment.directoryUrl}/${TENANT_ID}/v2.0`,
    tid: TENANT_ID,
    aud: process.env.SERVICE_CLIENT_ID,
    ver: '2.0',
    oid,
    sub: account === undefined ? oid : `subject of ${account}`,
    ...(account === undefined ? { idtyp: 'app' } : { scp: 'user_impersonation' }),
    azp: crypto.randomUUID(),
    roles,
    iat: nowS,
    nbf: nowS,
    exp: nowS + 3600,
  }
  const answer = await fetch(`${environment.directoryUrl}/local/tokens`, {
    method: 'POST',
    body: JSON.stringify({ claims }),
  })
  return ((await answer.json()) as { token: string }).token
}
