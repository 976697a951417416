import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Container } from '@azure/cosmos'
import { derivedId } from '../../shared/cosmos/derived-id.ts'
import { cosmosIdempotencyKeyStore } from '../../shared/cosmos/idempotency-key-store.ts'
import type { OnceDependencies } from '../../shared/domain/idempotency/run-once.ts'
import type { Log } from '../../shared/kernel/log.ts'

/** What creations are done once with, on the container `idempotencyKeys` of a test's database. */
export function onceOn(keys: Container, nowMs: () => number, log: Log): OnceDependencies {
  return {
    keys: cosmosIdempotencyKeyStore(keys),
    log,
    deriveId: derivedId,
    newId: randomUUID,
    nowMs,
    sleep: (delayMs) => sleep(delayMs),
  }
}
