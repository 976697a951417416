import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { foldedText } from '../../shared/domain/core/search-text.ts'
import { normalisedText } from '../../shared/kernel/normalised-text.ts'

/** Attributes by which connectors usually join identities. */
const KEYS = ['nin', 'directoryObjectId', 'email', 'employeeNumber'] as const

type Data = Readonly<Record<string, unknown>>

/** What the same person can have under another external id. @param data As stored, or of a line that may be invalid. */
export function personKeysOf(objectType: ObjectType, data: Data = {}): string[] {
  if (objectType !== 'identity') return []
  return KEYS.flatMap((key) => {
    const value = data[key]
    const isText = typeof value === 'string' || typeof value === 'number'
    return isText ? [`${key} ${foldedText(normalisedText(String(value)))}`] : []
  })
}

/** The external id of the identity to which a position belongs. */
export function holderOf(objectType: ObjectType, data: Data = {}): string | undefined {
  if (objectType !== 'relationship') return undefined
  return (data.identity as { readonly externalId: string } | undefined)?.externalId
}
