/** What the local directory reads from a message in MIME format. */
export type MimeMessage = {
  /** Decoded, by names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  /** The first part of each type. */
  readonly text: string | null
  readonly html: string | null
}

type Entity = { readonly headers: ReadonlyMap<string, string>; readonly body: string }

/**
 * Reads a message: RFC 5322, MIME (RFC 2045), encoded words in headers (RFC 2047).
 * @returns Undefined for a text that has no headers.
 */
export function parseMimeMessage(bytes: Buffer): MimeMessage | undefined {
  const message = entityOf(bytes.toString('latin1'))
  if (message === undefined) return undefined
  const parts = leavesOf(message)
  const partOf = (type: string) => parts.find(({ headers }) => typeOf(headers) === type)
  const [text, html] = [partOf('text/plain'), partOf('text/html')]
  const decoded = new Map([...message.headers].map(([name, value]) => [name, decodedWords(value)]))
  return { headers: decoded, text: text ? bodyOf(text) : null, html: html ? bodyOf(html) : null }
}

function entityOf(source: string): Entity | undefined {
  const [head = '', ...rest] = source.split(/\r?\n\r?\n/)
  const unfolded = head.replaceAll(/\r?\n[ \t]+/g, ' ')
  const headers = new Map<string, string>()
  for (const line of unfolded.split(/\r?\n/).filter((unfoldedLine) => unfoldedLine !== '')) {
    const match = /^([!-9;-~]+):[ \t]*(.*)$/.exec(line)
    if (match === null) return undefined
    headers.set((match[1] ?? '').toLowerCase(), match[2] ?? '')
  }
  return headers.size === 0 ? undefined : { headers, body: rest.join('\r\n\r\n') }
}

/** The entity, or the parts of a multipart one. */
function leavesOf(entity: Entity): Entity[] {
  const type = entity.headers.get('content-type') ?? 'text/plain'
  const boundary = /boundary="?([^";]+)"?/i.exec(type)?.[1]
  if (!/^multipart\//i.test(type) || boundary === undefined) return [entity]
  const [inside = ''] = entity.body.split(`--${boundary}--`)
  const parts = inside.split(`--${boundary}`).slice(1)
  return parts.flatMap((part) => {
    const found = entityOf(part.replace(/^\r?\n/, '').replace(/\r?\n$/, ''))
    return found === undefined ? [] : leavesOf(found)
  })
}

function typeOf(headers: Entity['headers']): string {
  const [type = ''] = (headers.get('content-type') ?? 'text/plain').split(';')
  return type.trim().toLowerCase()
}

/** A text in UTF-8, encoded in base64 or not at all. */
function bodyOf({ headers, body }: Entity): string {
  const encoding = (headers.get('content-transfer-encoding') ?? '7bit').trim().toLowerCase()
  return Buffer.from(body, encoding === 'base64' ? 'base64' : 'latin1').toString()
}

/** Words in base64. White space between encoded words does not count. RFC 2047. */
function decodedWords(value: string): string {
  const joined = value.replaceAll(/(=\?[^?]+\?B\?[^?]*\?=)\s+(?==\?)/gi, '$1')
  return joined.replaceAll(/=\?utf-8\?B\?([^?]*)\?=/gi, (_, text: string) => Buffer.from(text, 'base64').toString())
}
