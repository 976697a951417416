import type { Static } from 'typebox'
import { Closed, Described, Guid, Nullable, OneOf } from '../../kernel/schema.ts'
import { Timestamp } from '../../kernel/timestamp.ts'

const IDENTITY_ACTIONS = [
  'Created',
  'Merged',
  'Split',
  'Rekeyed',
  'Deleted',
  'Restored',
  'AccountBound',
  'AccountReleased',
] as const
export type IdentityAction = (typeof IDENTITY_ACTIONS)[number]

/** One entry of the history of an identity: a change of what it consists of, as stored and as the API returns it. */
export const IdentityChange = Closed({
  at: Timestamp,
  action: Described(
    OneOf(IDENTITY_ACTIONS),
    '`Merged`: an object of the connector has joined the identity, or, as its last entry, the identity was merged into ' +
      'another one. `Split`: an object of the connector does not belong to the identity any more, because it is that of ' +
      'another person or was deleted, and others remain. `Rekeyed`: another object of the connector takes the place of one, or ' +
      'has another external id. `AccountBound` and `AccountReleased`: the identity holds a ' +
      'directory account, or does not hold it any more.',
  ),
  connectorId: Described(
    Nullable(Guid),
    'The connector whose data made the change; null when it is not known any more.',
  ),
})
export type IdentityChange = Static<typeof IdentityChange>
