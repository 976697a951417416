import type { Language } from '../../kernel/mail-language.ts'
import { CATALOGUES } from './catalogues.ts'
import type { MailContent, MailItem } from './mail-item.ts'
import type { FormatTime, MailTexts } from './mail-texts.ts'

/** For whom a mail is, as far as its texts depend on it. */
export type MailReader = {
  readonly language: Language
  /** IANA name. */
  readonly timeZone: string
  /** The address of the console; undefined where there is none, and then no links. */
  readonly consoleUrl: string | undefined
  readonly isOperator: boolean
}

/** The view of the console with a person's own settings. */
const PREFERENCES_PATH = '/me'
/** The view of the console with the requests that wait for a person. */
const INBOX_PATH = '/inbox'

/** Longer subjects are cut. */
const SUBJECT_LENGTH = 200

type Link = { readonly words: string; readonly url: string }
type Section = {
  readonly heading: string
  readonly paragraphs: readonly string[]
  readonly link: Link | undefined
}

/**
 * The mail that tells these things: the subject is that of the only one, or their number.
 * @param omittedCount Earlier things that the mail only counts.
 */
export function renderMail(items: readonly MailItem[], reader: MailReader, omittedCount = 0): MailContent {
  const texts = CATALOGUES[reader.language]
  const time = timeFormat(texts, reader.timeZone)
  const told = items.map((item) => sectionOf(item, texts, time, reader))
  const sections = omittedCount === 0 ? told : [...told, omittedSection(omittedCount, texts, reader)]
  const [first] = told
  const count = told.length + omittedCount
  const subject = count === 1 && first !== undefined ? first.heading : texts.digestSubject(count)
  const reason = reader.isOperator ? texts.reasonForOperator : texts.reasonForPerson
  const preferences = reader.isOperator ? undefined : linkOf(texts.preferencesAction, PREFERENCES_PATH, reader)
  const mail: Mail = { subject, sections, reason, preferences, languageTag: texts.languageTag }
  return { subject: cut(subject), text: textOf(mail), html: htmlOf(mail) }
}

function sectionOf(item: MailItem, texts: MailTexts, time: FormatTime, reader: MailReader): Section {
  // The texts of a kind take items of that kind, which the compiler does not follow through the union.
  const { subject, paragraphs, action } = texts.kinds[item.kind] as {
    subject(item: MailItem): string
    paragraphs(item: MailItem, time: FormatTime): readonly string[]
    readonly action: string
  }
  const shown = withPlainTexts(item)
  return { heading: subject(shown), paragraphs: paragraphs(shown, time), link: linkOf(action, item.path, reader) }
}

/** An operator has no inbox. */
function omittedSection(count: number, texts: MailTexts, reader: MailReader): Section {
  const heading = texts.omittedHeading(count)
  if (reader.isOperator) return { heading, paragraphs: [], link: undefined }
  return { heading, paragraphs: [texts.omittedForPerson], link: linkOf(texts.inboxAction, INBOX_PATH, reader) }
}

function linkOf(words: string, path: string, { consoleUrl }: MailReader): Link | undefined {
  return consoleUrl === undefined ? undefined : { words, url: consoleUrl + path }
}

function timeFormat({ languageTag }: MailTexts, timeZone: string): FormatTime {
  const locale = languageTag === 'en' ? 'en-GB' : languageTag
  const format = new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'short', timeZone })
  return (instantMs) => format.format(instantMs)
}

/** Line ends and other control characters would change the structure of a header or of the plain text. */
const CONTROL = /[\p{Cc}\u2028\u2029]+/gu

/** Characters that change the direction of what follows: Unicode, annex 9. */
const DIRECTION = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/

/** The item with names on one line, whose direction ends with them. */
function withPlainTexts<Item extends MailItem>(item: Item): Item {
  const entries = Object.entries(item).map(([key, value]) => [key, typeof value === 'string' ? plain(value) : value])
  return Object.fromEntries(entries) as Item
}

function plain(value: string): string {
  const line = value.replace(CONTROL, ' ').trim()
  return DIRECTION.test(line) ? `\u2068${line}\u2069` : line
}

function cut(subject: string): string {
  const characters = [...subject]
  return characters.length <= SUBJECT_LENGTH ? subject : `${characters.slice(0, SUBJECT_LENGTH - 1).join('')}…`
}

type Mail = {
  readonly subject: string
  readonly sections: readonly Section[]
  readonly reason: string
  readonly preferences: Link | undefined
  readonly languageTag: string
}

function textOf({ sections, reason, preferences }: Mail): string {
  const linkText = ({ words, url }: Link) => `${words}:\n${url}`
  const blocks = sections.map(({ heading, paragraphs, link }) => [
    ...(sections.length > 1 ? [heading] : []),
    ...paragraphs,
    ...(link === undefined ? [] : [linkText(link)]),
  ])
  const footer = [reason, ...(preferences === undefined ? [] : [linkText(preferences)])]
  return `${[...blocks.flat(), '--', ...footer].join('\n\n')}\n`
}

/** Colours have a contrast of at least 7:1 on both backgrounds, and nothing is loaded from elsewhere. */
const STYLE =
  ':root{color-scheme:light dark}body{margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif;background:#fff;' +
  'color:#1b1b1f}main,footer{max-width:36rem;margin:0 auto;overflow-wrap:anywhere}h1{font-size:22px;line-height:1.3}' +
  'h2{font-size:18px;line-height:1.3;margin-top:32px}a{color:#004a99}footer{margin-top:40px;padding-top:16px;' +
  'border-top:1px solid #767680;font-size:14px}@media(prefers-color-scheme:dark){body{background:#1b1b1f;' +
  'color:#f2f2f5}a{color:#a8c8ff}}'

function htmlOf({ subject, sections, reason, preferences, languageTag }: Mail): string {
  const paragraph = (inside: string) => `<p>${inside}</p>`
  const linkHtml = ({ words, url }: Link) => `<a href="${escaped(url)}">${escaped(words)}</a>`
  const body = sections.map(({ heading, paragraphs, link }) =>
    [
      ...(sections.length > 1 ? [`<h2>${escaped(heading)}</h2>`] : []),
      ...paragraphs.map((text) => paragraph(escaped(text))),
      ...(link === undefined ? [] : [paragraph(linkHtml(link))]),
    ].join('\n'),
  )
  const footer = [paragraph(escaped(reason)), ...(preferences === undefined ? [] : [paragraph(linkHtml(preferences))])]
  return [
    '<!doctype html>',
    `<html lang="${languageTag}">`,
    '<head>',
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<title>${escaped(subject)}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
    `<main>\n<h1>${escaped(subject)}</h1>\n${body.join('\n')}\n</main>`,
    `<footer>\n${footer.join('\n')}\n</footer>`,
    '</body>',
    '</html>',
    '',
  ].join('\n')
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}
