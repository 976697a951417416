import type { PlanIds } from '../domain/insight/change-plan.ts'
import { type SignatureBinding, signedTexts } from './signed-texts.ts'

const PREFIX = 'p1_'

/**
 * Ids of plans that contain what they name, authenticated for a tenant and a collection.
 * @param keys The keys of cursors: see `signedTexts`.
 */
export function signedPlanIds(keys: () => Promise<readonly string[]>): PlanIds {
  return {
    async issue({ tenantId, collectionId }, { effect, expiresAtMs }) {
      return signedTexts(PREFIX, await keys()).sign(
        JSON.stringify([effect, expiresAtMs]),
        bindingOf(tenantId, collectionId),
      )
    },
    async read({ tenantId, collectionId }, planId) {
      const text = signedTexts(PREFIX, await keys()).open(planId, bindingOf(tenantId, collectionId))
      if (text === undefined) return undefined
      const [effect, expiresAtMs] = JSON.parse(text) as [string, number]
      return { effect, expiresAtMs }
    },
  }
}

/** Differs from the binding of every cursor, which starts with a tenant's id. */
function bindingOf(tenantId: string, collectionId: string): SignatureBinding {
  return ['plan', tenantId, collectionId]
}
