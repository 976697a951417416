import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { tokenVerifier } from '../../shared/auth/token-verifier.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { cosmosIdempotencyKeyStore } from '../../shared/cosmos/idempotency-key-store.ts'
import { type Tracer, UNTRACED } from '../../shared/domain/activity.ts'
import { type Measures, UNMEASURED } from '../../shared/domain/measures.ts'
import type { DispatchDependencies } from '../../shared/http/dispatch.ts'
import { messageSender } from '../../shared/messaging/message-sender.ts'
import { trackedActivities } from '../../shared/runtime/activities.ts'
import { jsonLog } from '../../shared/runtime/json-log.ts'
import { readSettings } from '../../shared/runtime/settings.ts'
import { serviceIdentity } from './service-identity.ts'

/** What every part of the service stands on. The only place that reads the clock, the settings and random ids. */
export const settings = readSettings()

export const nowMs = (): number => Date.now()

/** Does not jump when the clock is set. */
export const elapsedMs = (): number => performance.now()

export const newId = (): string => randomUUID()

type Observers = { readonly tracer: Tracer; readonly measures: Measures }

const UNOBSERVED: Observers = { tracer: UNTRACED, measures: UNMEASURED }

let observers = UNOBSERVED

/** Has everything recorded by these from now on; by nobody without any. */
export function observeBy(others: Observers | undefined): void {
  observers = others ?? UNOBSERVED
}

export const measures: Measures = { record: (...measured) => observers.measures.record(...measured) }

export const activities = trackedActivities({ start: (...started) => observers.tracer.start(...started) }, nowMs)

const writeLine = (line: string): void => void process.stdout.write(`${line}\n`)

export const log = jsonLog(settings.logLevel, writeLine, nowMs, activities.logDetails)

const credential = serviceIdentity(settings.managedIdentityClientId)

const { cosmosEndpoint: endpoint, cosmosKey: key, serviceBusConnectionString: connectionString } = settings

export const container = openDatabase(key === undefined ? { endpoint, credential } : { endpoint, key })

export const doorbells = messageSender(
  connectionString === undefined ? { namespace: settings.serviceBusNamespace ?? '', credential } : { connectionString },
  activities,
  nowMs,
)

export const dispatchDependencies: Omit<DispatchDependencies, 'findIdentity'> = {
  authenticate: tokenVerifier(
    { authorityUrl: settings.authorityUrl, audiences: [settings.serviceClientId, settings.serviceResourceUri] },
    nowMs,
  ),
  once: {
    keys: cosmosIdempotencyKeyStore(container('idempotencyKeys')),
    log,
    deriveId: derivedId,
    newId,
    nowMs,
    sleep: (delayMs) => sleep(delayMs),
  },
  log,
  newId,
  nowMs,
}
