import type { LifecycleEntry } from '../../shared/domain/membership-requests/membership-request.ts'
import type { SYSTEM_NOTES } from '../../shared/domain/membership-requests/system-notes.ts'
import type { MessageKey } from './language/english.ts'
import { t } from './language/texts.ts'

type SystemNote = (typeof SYSTEM_NOTES)[keyof typeof SYSTEM_NOTES]

const TEXT_OF: Readonly<Record<SystemNote, MessageKey>> = {
  'The person, the position or the collection was deleted': 'noteOrphaned',
  'The position was handed over to another person': 'noteHandedOver',
  'The person or the position was restored': 'noteRestored',
  Merged: 'noteMerged',
  Expired: 'noteExpired',
  NotEligible: 'noteNotEligible',
  'The join policy has changed': 'notePolicyChanged',
}

/** The note of a step: of the service in the language of the reader, of a person as it was written. */
export function noteText({
  actorId,
  status,
  notes,
}: Pick<LifecycleEntry, 'actorId' | 'status' | 'notes'>): string | undefined {
  if (actorId !== 'system' || notes === undefined || !isSystemNote(notes)) return notes
  // A request that waits has no end that it could reach.
  return t(notes === 'Expired' && status === 'Cancelled' ? 'noteNotDecided' : TEXT_OF[notes])
}

const isSystemNote = (note: string): note is SystemNote => Object.hasOwn(TEXT_OF, note)
