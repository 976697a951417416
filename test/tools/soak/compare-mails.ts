import type { Organisation } from './organisation.ts'
import { type KnownMails, OPERATORS, type SentMail } from './sent-mails.ts'
import { mailOf, NAMES } from './source-items.ts'
import type { Span } from './times.ts'

/** Mails to a person in a day, with the digest of the rest. */
const MAILS_PER_DAY_COUNT = 51
const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Checks the mails that were sent: to people and operators only, each once or again with the same id, without national
 * identity numbers, and not too many.
 */
export async function compareMails(organisation: Organisation): Promise<string[]> {
  const { directoryUrl, mails, times, undoneUntilMs } = organisation
  const isNew = new Set<string>()
  const response = await fetch(`${directoryUrl}/local/mails`)
  const faults: string[] = []
  for (const mail of ((await response.json()) as SentMail[]).toReversed()) {
    if (Date.parse(mail.at) < undoneUntilMs) continue
    const id = mail.messageId ?? ''
    const { at: _at, ...content } = mail
    const known = mails.get(id)
    if (known !== undefined && lastingContent(known.content) !== lastingContent(content)) {
      faults.push(`A mail with the id ${id} was ${JSON.stringify(known.content)} and is ${JSON.stringify(content)}`)
    }
    if (known === undefined) {
      mails.set(id, { atMs: Date.parse(mail.at), content })
      isNew.add(id)
    }
    const [to = '', ...others] = mail.to
    const isKnown = OPERATORS.includes(to) || /^user\d+@soak\.example$/i.test(to)
    if (id === '' || others.length > 0 || !isKnown) faults.push(`A mail to somebody else: ${JSON.stringify(mail)}`)
    if (/[12]0{6,7}\d{3,4}/.test(`${mail.subject} ${mail.text}`))
      faults.push(`A mail with a number: ${JSON.stringify(mail)}`)
  }
  faults.push(...tooMany(mails), ...againstChoices(organisation, isNew))
  comparedAt.set(mails, times.now())
  return faults
}

const FIRST_NAMES = new RegExp(`\\b(?:${NAMES.join('|')}) (?=\\d)`, 'g')

/** Times as mails write them: in the tenant's time zone, which can change. */
const TIMES = /\d{1,2}\.? \p{L}+ \d{4} (?:at|kl\.) \d\d:\d\d/gu
/** What a mail about a near end says of a later one: whether a request for it waits. */
const LATER_END =
  /(?:If you still need it, ask|A request for a later end|Hvis du fortsatt trenger|En forespørsel om en senere)[^<\n]*/g

/**
 * What does not change when a mail is sent again. Its text is of the time when it is sent: what people are called, the
 * time zone, and whether a request for a later end waits.
 */
function lastingContent({ from, to, ...texts }: Omit<SentMail, 'at'>): string {
  const lasting = Object.values(texts).map((text) =>
    text?.replace(FIRST_NAMES, '').replace(TIMES, '').replace(LATER_END, ''),
  )
  return JSON.stringify([from, to, ...lasting])
}

/** When mails were last compared. */
const comparedAt = new WeakMap<KnownMails, Span>()

/** Those who want no mails get none, and those who want one a day get not many more. Of choices made before. */
function againstChoices({ model, mails, times }: Organisation, newIds: ReadonlySet<string>): string[] {
  const before = comparedAt.get(mails)
  if (before === undefined) return []
  const dayCount = Math.ceil((times.now().latestMs - before.earliestMs) / DAY_MS)
  // A digest can be sent on its way from one time zone to another, and after the choice.
  const allowed = { Immediately: Number.POSITIVE_INFINITY, Daily: dayCount + 2, None: 0 }
  return [...model.mailChoices].flatMap(([nin, { mail, set }]) => {
    const sent = [...newIds].filter((id) => mails.get(id)?.content.to[0] === mailOf(nin))
    if (set.latestMs >= before.earliestMs || sent.length <= allowed[mail]) return []
    return [`${sent.length} mails to ${nin}, who chose ${mail}, in ${dayCount} days`]
  })
}

function tooMany(mails: KnownMails): string[] {
  const counts = new Map<string, number>()
  for (const { atMs, content } of mails.values()) {
    const key = `${content.to[0]} in the day ${Math.floor(atMs / DAY_MS)}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  // The days of the tenant are others: two of them can share one of these.
  return [...counts].flatMap(([key, count]) => (count > 2 * MAILS_PER_DAY_COUNT ? [`${count} mails to ${key}`] : []))
}
