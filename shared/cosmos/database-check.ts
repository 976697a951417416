import type { Container } from '@azure/cosmos'

/** No tenant has this for an id. */
const NOBODY = 'readiness'

/**
 * The smallest thing that can be asked, one request unit: a document that is not there. Rejects when it is not
 * answered.
 */
export function databaseCheck(tenants: Container): (signal: AbortSignal) => Promise<void> {
  return async (signal) => {
    await tenants.item(NOBODY, NOBODY).read({ abortSignal: signal })
  }
}
