/** A mail as `GET /local/mails` shows it. */
export type SentMail = {
  /** Timestamp. */
  readonly at: string
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  /** Null without an alternative of this type. */
  readonly text: string | null
  readonly html: string | null
  readonly messageId: string | null
}

/** Older mails are dropped. */
const KEPT_COUNT = 10_000

export type SentMails = {
  add(mail: SentMail): void
  newestFirst(): readonly SentMail[]
  clear(): void
}

/** Keeps the mails that the directory was given to send, in memory. */
export function sentMails(): SentMails {
  let mails: SentMail[] = []
  return {
    add(mail) {
      mails.push(mail)
      if (mails.length > 2 * KEPT_COUNT) mails = mails.slice(-KEPT_COUNT)
    },
    newestFirst: () => mails.slice(-KEPT_COUNT).reverse(),
    clear: () => void mails.splice(0),
  }
}
