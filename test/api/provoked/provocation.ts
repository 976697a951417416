/** What came of a request: enough to tell why it was refused. */
export type Provoked = { readonly status: number; readonly codes: readonly string[] }

/** Brings about one refusal, from nothing, through the API. */
export type Provocation = () => Promise<Provoked>

type Envelope = { readonly status: number; readonly body: { readonly errors: readonly { readonly code: string }[] } }

export function provoked({ status, body }: Envelope): Provoked {
  return { status, codes: body.errors.map(({ code }) => code) }
}
