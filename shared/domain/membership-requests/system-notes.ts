/** Lifecycle notes of what the service does itself. */
export const SYSTEM_NOTES = {
  orphaned: 'The person, the position or the collection was deleted',
  handedOver: 'The position was handed over to another person',
  restored: 'The person or the position was restored',
  merged: 'Merged',
  expired: 'Expired',
  /** The subject is not allowed to join any more. */
  notEligible: 'NotEligible',
  policyChanged: 'The join policy has changed',
} as const
