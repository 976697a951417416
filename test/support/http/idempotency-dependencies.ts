import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Container } from '@azure/cosmos'
import { derivedId } from '../../../shared/cosmos/derived-id.ts'
import { cosmosIdempotencyStore } from '../../../shared/cosmos/idempotency-store.ts'
import type { IdempotencyDependencies } from '../../../shared/domain/idempotency/run-once.ts'
import type { Log } from '../../../shared/kernel/log.ts'

/** What creations are done once with, on the container `idempotencyKeys` of a test's database. */
export function idempotencyOn(keys: Container, nowMs: () => number, log: Log): IdempotencyDependencies {
  return {
    keys: cosmosIdempotencyStore(keys),
    log,
    deriveId: derivedId,
    newId: randomUUID,
    nowMs,
    sleep: (delayMs) => sleep(delayMs),
  }
}
