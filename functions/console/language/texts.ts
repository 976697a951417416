import { signal } from '@preact/signals'
import { english, type MessageKey, type Messages } from './english.ts'

export type LanguageCode = 'en' | 'nb'

const messages = signal<Messages>(english)
export const languageCode = signal<LanguageCode>('en')

/** Loads the texts of a language and shows them. */
export async function showLanguage(code: LanguageCode): Promise<void> {
  messages.value = code === 'nb' ? (await import('./norwegian.ts')).norwegian : english
  languageCode.value = code
  document.documentElement.lang = code
}

/** Norwegian if the browser prefers it, otherwise English. */
export function preferredLanguage(languages: readonly string[]): LanguageCode {
  const known = languages.map((tag) => tag.toLowerCase().split('-')[0]).find((tag) => tag === 'en' || isNorwegian(tag))
  return isNorwegian(known) ? 'nb' : 'en'
}

const isNorwegian = (tag: string | undefined): boolean => tag !== undefined && ['nb', 'no', 'nn'].includes(tag)

/** The text of the current language. Components that call it are rendered again when the language changes. */
export function t(key: MessageKey, values: Readonly<Record<string, string | number>> = {}): string {
  return messages.value[key].replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name]
    return value === undefined ? placeholder : typeof value === 'number' ? numberOf(value) : value
  })
}

const locale = (): string => (languageCode.value === 'nb' ? 'nb-NO' : 'en-GB')

export const numberOf = (value: number): string => new Intl.NumberFormat(locale()).format(value)

/** Date and time in the time zone of the browser. */
export function timeOf(timestamp: string): string {
  return new Intl.DateTimeFormat(locale(), { dateStyle: 'medium', timeStyle: 'short' }).format(new Date(timestamp))
}
