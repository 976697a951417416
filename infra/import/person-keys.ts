import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import { foldedText } from '../../shared/domain/core/search-text.ts'

/** Attributes by which connectors usually join identities. */
const KEYS = ['nin', 'directoryObjectId', 'email', 'employeeNumber'] as const

/** What the same person can have under another external id. */
export function personKeysOf(objectType: ObjectType, data: Readonly<Record<string, unknown>> = {}): string[] {
  if (objectType !== 'identity') return []
  return KEYS.flatMap((key) => {
    const value = data[key]
    return typeof value === 'string' ? [`${key} ${foldedText(value)}`] : []
  })
}
