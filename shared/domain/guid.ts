import { type Static, Type } from 'typebox'
import { GUID_PATTERN } from './is-guid.ts'

/** Accepted in any case; validation turns it to lower case, the only form that is stored and returned. */
export const Guid = Type.String({ pattern: GUID_PATTERN, 'x-lower-case': true, 'x-guid': true })
export type Guid = Static<typeof Guid>
