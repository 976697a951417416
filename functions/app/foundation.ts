import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { authorityKeys } from '../../shared/auth/signing-keys.ts'
import { tokenVerifier } from '../../shared/auth/token-verifier.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { cosmosIdempotencyStore } from '../../shared/cosmos/idempotency-store.ts'
import type { DispatchDependencies } from '../../shared/http/dispatch.ts'
import { type BusSettings, messageSender } from '../../shared/messaging/message-sender.ts'
import { nowMs } from './clock.ts'
import { log } from './observation.ts'
import { serviceIdentity } from './service-identity.ts'
import { settings } from './settings.ts'
import { scheduler } from './time-slices.ts'

/** What every part of the service stands on. The only place that makes random ids. */
export const newId = (): string => randomUUID()

const credential = serviceIdentity(settings.managedIdentityClientId)

const { cosmosEndpoint: endpoint, cosmosKey: key, serviceBusConnectionString: connectionString } = settings

export const container = openDatabase(key === undefined ? { endpoint, credential } : { endpoint, key })

export const busSettings: BusSettings =
  connectionString === undefined ? { namespace: settings.serviceBusNamespace ?? '', credential } : { connectionString }

export const messageQueue = messageSender(busSettings, nowMs)

export const keys = authorityKeys(settings.authorityUrl, nowMs)

export const dispatchDependencies: Omit<DispatchDependencies, 'findIdentity'> = {
  authenticate: tokenVerifier(
    { authorityUrl: settings.authorityUrl, audiences: [settings.serviceClientId, settings.serviceResourceUri] },
    nowMs,
    keys,
  ),
  idempotency: {
    keys: cosmosIdempotencyStore(container('idempotencyKeys')),
    log,
    deriveId: derivedId,
    newId,
    nowMs,
    sleep: (delayMs) => sleep(delayMs),
  },
  scheduler,
  log,
  newId,
  nowMs,
}
