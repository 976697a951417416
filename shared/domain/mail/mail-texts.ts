import type { ItemOf, MailKind } from './mail-item.ts'

/** A date and time in the language and the time zone of the mail. */
export type FormatTime = (instantMs: number) => string

/** The texts of one kind of mail. */
type KindTexts<Kind extends MailKind> = {
  /** One line. Also the heading in a mail that tells several things. */
  subject(item: ItemOf<Kind>): string
  paragraphs(item: ItemOf<Kind>, time: FormatTime): readonly string[]
  /** The words of the link into the console. */
  readonly action: string
}

/** All texts of mails in one language. */
export type MailTexts = {
  /** BCP 47. */
  readonly languageTag: string
  readonly kinds: { readonly [Kind in MailKind]: KindTexts<Kind> }
  digestSubject(count: number): string
  /** Earlier events that a digest does not tell. */
  omittedHeading(count: number): string
  readonly omittedForPerson: string
  /** The words of the link to the requests that wait for a person. */
  readonly inboxAction: string
  /** Why a person gets the mail. */
  readonly reasonForPerson: string
  /** The words of the link to the settings of a person's mails. */
  readonly preferencesAction: string
  readonly reasonForOperator: string
}
