import { type Api, ApiRefusal } from '../api.ts'
import { isActive, listPositions } from '../core-objects.ts'
import { shownTimeZone } from '../language/shown-time-zone.ts'

/** A position of the person who is signed in, with its unit, which distinguishes positions of one title. */
export type OwnPosition = { readonly id: string; readonly name: string }

/** The active positions of a person. None for those who cannot read core objects. */
export async function readOwnPositions(identityId: string, nowMs: number, api: Api): Promise<readonly OwnPosition[]> {
  const all = await listPositions(identityId, api).catch((error: unknown) => {
    if (error instanceof ApiRefusal && (error.status === 403 || error.status === 404)) return []
    throw error
  })
  return all
    .filter(({ until }) => isActive(until, nowMs, shownTimeZone.value))
    .map(({ id, title, unit, externalId }) => {
      return { id, name: [title ?? externalId, unit].filter((part) => part !== undefined).join(', ') }
    })
}
