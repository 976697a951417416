import { randomUUID } from 'node:crypto'
import { authorityKeys } from '../../shared/auth/authority-keys.ts'
import { tokenVerifier } from '../../shared/auth/token-verifier.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import type { DispatchDependencies } from '../../shared/http/dispatch.ts'
import { type BusSettings, messageSender } from '../../shared/messaging/message-sender.ts'
import { jsonLog } from '../../shared/runtime/json-log.ts'
import { serviceIdentity } from './service-identity.ts'
import { settings } from './settings.ts'

/** What every part of the service stands on. The only place that reads the clock and makes random ids. */
export const nowMs = (): number => Date.now()

/** Does not jump when the clock is set. */
export const elapsedMs = (): number => performance.now()

export const newId = (): string => randomUUID()

export const log = jsonLog(settings.logLevel, (line) => process.stdout.write(`${line}\n`), nowMs)

const credential = serviceIdentity(settings.managedIdentityClientId)

const { cosmosEndpoint: endpoint, cosmosKey: key, serviceBusConnectionString: connectionString } = settings

export const container = openDatabase(key === undefined ? { endpoint, credential } : { endpoint, key })

export const busSettings: BusSettings =
  connectionString === undefined ? { namespace: settings.serviceBusNamespace ?? '', credential } : { connectionString }

export const doorbells = messageSender(busSettings, nowMs)

export const keys = authorityKeys(settings.authorityUrl, nowMs)

export const dispatchDependencies: Omit<DispatchDependencies, 'findIdentity'> = {
  authenticate: tokenVerifier(
    { authorityUrl: settings.authorityUrl, audiences: [settings.serviceClientId, settings.serviceResourceUri] },
    nowMs,
    keys,
  ),
  log,
  newId,
  nowMs,
}
