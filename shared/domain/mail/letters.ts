import type { StoredEvent } from '../events/event-types.ts'
import type { LetterContext, Letters } from './letter.ts'
import type { MailDependencies } from './mail-dependencies.ts'
import { operatorLetters } from './operator-letters.ts'
import { requestLetters } from './request-letters.ts'

/** What could not be told for so long is not worth a mail any more. */
const TOLD_WITHIN_MS = 7 * 24 * 60 * 60_000

/** Who is told of an event now, and what. No one is told of an event that was not told in time. */
export async function lettersOf(event: StoredEvent, context: LetterContext, deps: MailDependencies): Promise<Letters> {
  if (deps.nowMs() - Date.parse(event.time) > TOLD_WITHIN_MS) return []
  return event.type.startsWith('request.')
    ? requestLetters(event, context, deps)
    : operatorLetters(event, context, deps)
}
