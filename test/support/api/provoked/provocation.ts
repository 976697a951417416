/** The parts of a response that show why the request was refused. */
export type Provoked = { readonly status: number; readonly codes: readonly string[] }

/** Sets up the data for one refusal and causes it through the API. */
export type Provocation = () => Promise<Provoked>

type Envelope = { readonly status: number; readonly body: { readonly errors: readonly { readonly code: string }[] } }

export function provoked({ status, body }: Envelope): Provoked {
  return { status, codes: body.errors.map(({ code }) => code) }
}
