import { OneOf } from './schema.ts'

/** The languages of mails, as settings of a tenant and this service name them. */
const LANGUAGES = ['en', 'no'] as const
export const Language = OneOf(LANGUAGES)
export type Language = (typeof LANGUAGES)[number]

/** Both written forms of Norwegian, and the language itself. */
const NORWEGIAN: readonly string[] = ['no', 'nb', 'nn']

/**
 * The language of mails to a person.
 * @param preferred A language tag such as `nb-NO`. Tags of other languages count as none.
 */
export function languageOf(preferred: string | undefined, byDefault: Language): Language {
  const [primary = ''] = (preferred ?? '').trim().toLowerCase().split(/[-_]/)
  if (primary === 'en') return 'en'
  return NORWEGIAN.includes(primary) ? 'no' : byDefault
}
