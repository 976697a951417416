import { randomUUID } from 'node:crypto'
import { DefaultAzureCredential, ManagedIdentityCredential, type TokenCredential } from '@azure/identity'
import { tokenVerifier } from '../../shared/auth/token-verifier.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import type { DispatchDependencies } from '../../shared/http/dispatch.ts'
import { messageSender } from '../../shared/messaging/message-sender.ts'
import { jsonLog } from '../../shared/runtime/json-log.ts'
import { readSettings } from '../../shared/runtime/settings.ts'

/** What every part of the service stands on. The only place that reads the clock, the settings and random ids. */
export const settings = readSettings()

export const nowMs = (): number => Date.now()

/** Does not jump when the clock is set. */
export const elapsedMs = (): number => performance.now()

export const newId = (): string => randomUUID()

export const log = jsonLog(settings.logLevel, (line) => process.stdout.write(`${line}\n`), nowMs)

/** Who the service is where no key is set: its managed identity or, where it has none, whoever runs it. */
const credential: TokenCredential =
  settings.managedIdentityClientId === undefined
    ? new DefaultAzureCredential()
    : new ManagedIdentityCredential({ clientId: settings.managedIdentityClientId })

const { cosmosEndpoint: endpoint, cosmosKey: key, serviceBusConnectionString: connectionString } = settings

export const container = openDatabase(key === undefined ? { endpoint, credential } : { endpoint, key })

export const doorbells = messageSender(
  connectionString === undefined ? { namespace: settings.serviceBusNamespace ?? '', credential } : { connectionString },
  nowMs,
)

export const dispatchDependencies: Omit<DispatchDependencies, 'findIdentity'> = {
  authenticate: tokenVerifier(
    { authorityUrl: settings.authorityUrl, audiences: [settings.serviceClientId, settings.serviceResourceUri] },
    nowMs,
  ),
  log,
  newId,
  nowMs,
}
