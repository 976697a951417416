import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { authorityKeys } from '../../shared/auth/authority-keys.ts'
import { tokenVerifier } from '../../shared/auth/token-verifier.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { DatabaseSession } from '../../shared/cosmos/database-session.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { cosmosIdempotencyKeyStore } from '../../shared/cosmos/idempotency-key-store.ts'
import type { DispatchDependencies } from '../../shared/http/dispatch.ts'
import { type BusSettings, messageSender } from '../../shared/messaging/message-sender.ts'
import { nowMs } from './clock.ts'
import { activities, log } from './observation.ts'
import { serviceIdentity } from './service-identity.ts'
import { settings } from './settings.ts'
import { slices } from './time-slices.ts'

/** What every part of the service stands on. The only place that makes random ids. */
export const newId = (): string => randomUUID()

const credential = serviceIdentity(settings.managedIdentityClientId)

const { cosmosEndpoint: endpoint, cosmosKey: key, serviceBusConnectionString: connectionString } = settings

/** What this instance has seen of the database: messages carry it to other instances, and bring what these have seen. */
export const databaseSession = new DatabaseSession()

export const container = openDatabase(key === undefined ? { endpoint, credential } : { endpoint, key }, databaseSession)

export const busSettings: BusSettings =
  connectionString === undefined ? { namespace: settings.serviceBusNamespace ?? '', credential } : { connectionString }

export const doorbells = messageSender(busSettings, activities, nowMs, () => databaseSession.tokens())

export const keys = authorityKeys(settings.authorityUrl, nowMs)

export const dispatchDependencies: Omit<DispatchDependencies, 'findIdentity'> = {
  authenticate: tokenVerifier(
    { authorityUrl: settings.authorityUrl, audiences: [settings.serviceClientId, settings.serviceResourceUri] },
    nowMs,
    keys,
  ),
  once: {
    keys: cosmosIdempotencyKeyStore(container('idempotencyKeys')),
    log,
    deriveId: derivedId,
    newId,
    nowMs,
    sleep: (delayMs) => sleep(delayMs),
  },
  slices,
  log,
  newId,
  nowMs,
}
