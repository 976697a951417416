import { OneOf } from './schema.ts'

const LANGUAGES = ['en', 'no'] as const
export const Language = OneOf(LANGUAGES)
export type Language = (typeof LANGUAGES)[number]

/** Both written forms of Norwegian, and the language itself. */
const NORWEGIAN: readonly string[] = ['no', 'nb', 'nn']

/** The language for a person. @param preferred a language tag such as `nb-NO`; others than the two count as none. */
export function languageOf(preferred: string | undefined, byDefault: Language): Language {
  const [primary = ''] = (preferred ?? '').trim().toLowerCase().split(/[-_]/)
  if (primary === 'en') return 'en'
  return NORWEGIAN.includes(primary) ? 'no' : byDefault
}
