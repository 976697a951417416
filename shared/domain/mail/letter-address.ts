import { isMailAddress } from '../../kernel/mail-address.ts'
import { type Language, languageOf } from '../../kernel/mail-language.ts'
import type { LetterContext, Recipient } from './letter.ts'
import type { MailDependencies } from './mail-dependencies.ts'

/** Where and in which language a recipient gets mails. */
export type Address = {
  /** Of the recipient's mailbox. */
  readonly key: string
  readonly mail: string
  readonly language: Language
  readonly isOperator: boolean
}

/** Undefined for a person without a valid mail address. */
export async function addressOf(
  to: Recipient,
  { settings, orgChart }: LetterContext,
  { deriveId }: Pick<MailDependencies, 'deriveId'>,
): Promise<Address | undefined> {
  const { language } = settings
  if (to.kind === 'operator') {
    return { key: deriveId('operator', to.address.toLowerCase()), mail: to.address, language, isOperator: true }
  }
  const { rows } = await orgChart()
  const mail = rows.textOf('identity', 'email', to.identityId)?.trim()
  if (mail === undefined || !isMailAddress(mail)) return undefined
  const preferred = rows.textOf('identity', 'preferredLanguage', to.identityId)
  return { key: to.identityId, mail, language: languageOf(preferred, language), isOperator: false }
}
