import type { StoredEvent } from '../events/event-types.ts'
import type { LetterContext, Letters } from './letter.ts'
import type { MailDependencies } from './mail-dependencies.ts'
import { operatorLetters } from './operator-letters.ts'
import { requestLetters } from './request-letters.ts'

/** Who is told of an event now, and what. */
export function lettersOf(event: StoredEvent, context: LetterContext, deps: MailDependencies): Promise<Letters> {
  return event.type.startsWith('request.')
    ? requestLetters(event, context, deps)
    : operatorLetters(event, context, deps)
}
