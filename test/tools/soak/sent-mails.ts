/** A mail as the local directory lists it. */
export type SentMail = {
  readonly at: string
  readonly from: string
  readonly to: readonly string[]
  readonly subject: string
  readonly text: string | null
  readonly html: string | null
  readonly messageId: string | null
}

/** Mails by their id. */
export type KnownMails = Map<string, { readonly atMs: number; readonly content: Omit<SentMail, 'at'> }>

/** Addresses of the operators of the tenant. */
export const OPERATORS: readonly string[] = ['operator@soak.example']
