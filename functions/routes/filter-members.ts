import { type Static, Type } from 'typebox'
import { Guid } from '../../shared/kernel/schema.ts'

/** Decisions, section 6. */
const IDS_AT_MOST = 10_000

const Ids = Type.Array(Guid, { maxItems: IDS_AT_MOST })

/** `{ "ids": [...] }` or the bare list. The choice is made on the type, so that a fault in one is told for that one. */
export const FilterMembersRequest = Type.Unsafe<Static<typeof Ids> | { ids: Static<typeof Ids> }>({
  type: ['object', 'array'],
  if: { type: 'array' },
  // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema
  then: Ids,
  else: Type.Object({ ids: Ids }),
})

export const MemberIds = Type.Array(Guid)
