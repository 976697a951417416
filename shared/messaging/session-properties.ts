/**
 * The application property that carries what the sender of a message has seen of the database, as session tokens by
 * container. The receiver reads nothing older than that: decisions, section 17. In lower case, since the host changes
 * the case of first letters.
 */
export function sessionProperties(tokens: Readonly<Record<string, string>>): { readonly session?: string } {
  return Object.keys(tokens).length === 0 ? {} : { session: JSON.stringify(tokens) }
}

/** The reverse, of whatever has come: empty where it is nothing of the kind. */
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
