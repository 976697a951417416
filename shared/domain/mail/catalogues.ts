import type { Language } from '../../kernel/mail-language.ts'
import { englishMails } from './english-mails.ts'
import type { MailTexts } from './mail-texts.ts'
import { norwegianMails } from './norwegian-mails.ts'

/** The texts of mails. A language without one of them does not compile. */
export const CATALOGUES: Readonly<Record<Language, MailTexts>> = { en: englishMails, no: norwegianMails }
