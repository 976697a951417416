import { isDeepStrictEqual } from 'node:util'
import type { Organisation } from './organisation.ts'
import { type KnownMails, OPERATORS, type SentMail } from './sent-mails.ts'

/** Mails to a person in a day, with the digest of the rest. */
const MAILS_PER_DAY_COUNT = 51
const DAY_MS = 24 * 60 * 60 * 1000

/**
 * Checks the mails that were sent: to people and operators only, each once or again with the same id, without national
 * identity numbers, and not too many.
 */
export async function compareMails(organisation: Organisation): Promise<string[]> {
  const { directoryUrl, mails } = organisation
  const response = await fetch(`${directoryUrl}/local/mails`)
  const faults: string[] = []
  for (const mail of ((await response.json()) as SentMail[]).toReversed()) {
    const id = mail.messageId ?? ''
    const { at: _at, ...content } = mail
    const known = mails.get(id)
    if (known !== undefined && !isDeepStrictEqual(known.content, content)) {
      faults.push(`A mail with the id ${id} was ${JSON.stringify(known.content)} and is ${JSON.stringify(content)}`)
    }
    if (known === undefined) mails.set(id, { atMs: Date.parse(mail.at), content })
    const [to = '', ...others] = mail.to
    const isKnown = OPERATORS.includes(to) || /^user\d+@soak\.example$/i.test(to)
    if (id === '' || others.length > 0 || !isKnown) faults.push(`A mail to somebody else: ${JSON.stringify(mail)}`)
    if (/[12]0{6,7}\d{3,4}/.test(`${mail.subject} ${mail.text}`))
      faults.push(`A mail with a number: ${JSON.stringify(mail)}`)
  }
  return [...faults, ...tooMany(mails)]
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
