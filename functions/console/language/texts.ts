import { signal } from '@preact/signals'
import { english, type MessageKey, type Messages } from './english.ts'
import { englishRefusals } from './refusals-english.ts'
import { shownTimeZone } from './shown-time-zone.ts'

export type LanguageCode = 'en' | 'nb'

type Refusals = Partial<Readonly<Record<string, string>>>

const messages = signal<Messages>(english)
const refusals = signal<Refusals>(englishRefusals)
export const languageCode = signal<LanguageCode>('en')

/** Loads the texts of a language and shows them. */
export async function showLanguage(code: LanguageCode): Promise<void> {
  if (code === 'nb') {
    const [texts, sentences] = await Promise.all([import('./norwegian.ts'), import('./refusals-norwegian.ts')])
    messages.value = texts.norwegian
    refusals.value = sentences.norwegianRefusals
  } else {
    messages.value = english
    refusals.value = englishRefusals
  }
  languageCode.value = code
  document.documentElement.lang = code
}

const CHOSEN_LANGUAGE = 'language'

/** Shows the texts of a language, and keeps the choice for later visits with this browser. */
export async function chooseLanguage(code: LanguageCode): Promise<void> {
  localStorage.setItem(CHOSEN_LANGUAGE, code)
  await showLanguage(code)
}

/** The language that was chosen with this browser; else Norwegian if the browser prefers it, otherwise English. */
export function preferredLanguage(languages: readonly string[]): LanguageCode {
  const chosen = localStorage.getItem(CHOSEN_LANGUAGE)
  if (chosen === 'nb' || chosen === 'en') return chosen
  const known = languages.map((tag) => tag.toLowerCase().split('-')[0]).find((tag) => tag === 'en' || isNorwegian(tag))
  return isNorwegian(known) ? 'nb' : 'en'
}

const isNorwegian = (tag: string | undefined): boolean => tag !== undefined && ['nb', 'no', 'nn'].includes(tag)

/**
 * The text of the current language. Components that call it are rendered again when the language changes. A text with
 * two forms has the one for a `count` of 1 first.
 */
export function t(key: MessageKey, values: Readonly<Record<string, string | number>> = {}): string {
  const [first = '', other = first] = messages.value[key].split(' | ')
  return (values.count === 1 ? first : other).replace(/\{(\w+)\}/g, (placeholder, name: string) => {
    const value = values[name]
    return value === undefined ? placeholder : typeof value === 'number' ? numberOf(value) : isolated(value)
  })
}

/** Characters that change the direction of what follows: Unicode, annex 9. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** A value within a text whose direction ends with it. */
const isolated = (value: string): string => (DIRECTION.test(value) ? `\u2068${value}\u2069` : value)

/** A refusal of the API in words. Undefined for a code without a sentence. */
export const refusalSentence = (code: string): string | undefined => refusals.value[code]

const locale = (): string => (languageCode.value === 'nb' ? 'nb-NO' : 'en-GB')

/** Makes one formatter for each language and time zone: making one takes longer than hundreds of uses. */
function perLanguage<Format>(make: (locale: string, timeZone: string | undefined) => Format): () => Format {
  const made = new Map<string, Format>()
  return () => {
    const key = `${locale()} ${shownTimeZone.value}`
    const format = made.get(key) ?? make(locale(), shownTimeZone.value)
    made.set(key, format)
    return format
  }
}

const inZone = (zone: string | undefined): { readonly timeZone?: string } =>
  zone === undefined ? {} : { timeZone: zone }

const numberFormat = perLanguage((language) => new Intl.NumberFormat(language))
const timeFormat = perLanguage(
  (language, zone) => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short', ...inZone(zone) }),
)
const dayFormat = perLanguage(
  (language, zone) => new Intl.DateTimeFormat(language, { dateStyle: 'medium', ...inZone(zone) }),
)
const dateFormat = perLanguage(
  (language) => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }),
)
const agoFormat = perLanguage((language) => new Intl.RelativeTimeFormat(language, { style: 'short' }))
const nowFormat = perLanguage((language) => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }))
const secondsFormat = perLanguage(
  (language) => new Intl.NumberFormat(language, { style: 'unit', unit: 'second', maximumFractionDigits: 1 }),
)

const collator = perLanguage((language) => new Intl.Collator(language, { numeric: true }))

/** The alphabetical order of the person's language. */
export const compareByLocale = (left: string, right: string): number => collator().compare(left, right)

export const numberOf = (value: number): string => numberFormat().format(value)

/** Date and time in the time zone of the organisation. */
export function timeOf(timestamp: string): string {
  return timeFormat().format(new Date(timestamp))
}

const DATE = /^\d{4}-\d\d-\d\d$/

/** The day of a timestamp in the time zone of the organisation, or a date, which is the same day everywhere. */
export function dayText(timestamp: string): string {
  return (DATE.test(timestamp) ? dateFormat() : dayFormat()).format(new Date(timestamp))
}

const UNITS_MS = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['week', 7 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** How long ago a time is, in its largest unit: "3 hours ago"; within the last minute "now". */
export function agoText(timestamp: string, now: Date): string {
  const agoMs = Math.max(0, now.getTime() - Date.parse(timestamp))
  const largest = UNITS_MS.find(([, unitMs]) => agoMs >= unitMs)
  if (largest === undefined) return nowFormat().format(0, 'second')
  const [unit, unitMs] = largest
  return agoFormat().format(-Math.floor(agoMs / unitMs), unit)
}

/** The time between two timestamps, in seconds. */
export function durationOf(from: string, to: string): string {
  const seconds = (Date.parse(to) - Date.parse(from)) / 1000
  return secondsFormat().format(Math.max(0, seconds))
}
