/**
 * The application property with the sender's session tokens, by container. The receiver reads nothing older: decisions,
 * section 17. In lower case, because the host changes the case of first letters.
 */
export function sessionProperties(tokens: Readonly<Record<string, string>>): { readonly session?: string } {
  return Object.keys(tokens).length === 0 ? {} : { session: JSON.stringify(tokens) }
}

/** The session tokens of a received message. Empty for invalid or missing properties. */
export function sessionTokensOf(properties: unknown): Readonly<Record<string, string>> {
  const { session } = (properties ?? {}) as Record<string, unknown>
  const tokens = typeof session === 'string' ? parsed(session) : undefined
  if (typeof tokens !== 'object' || tokens === null) return {}
  return Object.fromEntries(
    Object.entries(tokens).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
