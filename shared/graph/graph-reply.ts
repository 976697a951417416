import { DirectoryFault } from '../domain/group-links/directory.ts'

/** What Graph answers to one call, or to one item of a batch. */
export type GraphReply = {
  /** 0 when there was no answer. */
  readonly status: number
  /** Parsed JSON; undefined when there is none. */
  readonly body: unknown
  /** False for a body that is not JSON: it comes from something in between and says nothing of the call. */
  readonly isJson: boolean
  readonly retryAfterMs: number | undefined
}

/** What a reply means for the call it answers. */
export type ReplyKind =
  /** Done. */
  | 'done'
  /** Graph has said no, and would again. */
  | 'denied'
  /** Later, after the time that the reply names. */
  | 'throttled'
  /** The answer was lost or means nothing; the call may have been carried out. */
  | 'unclear'

/** Statuses after which the same call may succeed; 401 because the token is fetched anew. */
const UNCLEAR_STATUSES: readonly number[] = [0, 401, 408, 409, 500, 502, 503, 504]

/** Told by the status, and by whether the body comes from Graph at all. */
export function replyKind(reply: GraphReply): ReplyKind {
  if (reply.status === 429) return 'throttled'
  if (UNCLEAR_STATUSES.includes(reply.status) || !reply.isJson || reply.status >= 500) return 'unclear'
  return reply.status < 300 ? 'done' : 'denied'
}

/** The message of Graph's error body, empty without one. */
export function replyMessage({ body }: GraphReply): string {
  const message = (body as { error?: { message?: unknown } } | undefined)?.error?.message
  return typeof message === 'string' ? message : ''
}

/** Why a call was not done, for those above. */
export function replyFault(reply: GraphReply): DirectoryFault {
  const kind = replyKind(reply)
  if (kind === 'throttled') {
    const { retryAfterMs } = reply
    return new DirectoryFault('throttled', 'The directory asks to be left alone for a while', {
      ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    })
  }
  if (kind === 'unclear') {
    const what = reply.status === 0 ? 'did not answer' : `answered ${reply.status}`
    return new DirectoryFault('unavailable', `The directory ${what}, also when asked again`)
  }
  const said = replyMessage(reply)
  const message = `The directory answered ${reply.status}${said === '' ? '' : `: ${said}`}`
  return new DirectoryFault(reply.status === 404 ? 'groupMissing' : 'refused', message)
}

/** RFC 9110, section 10.2.3: seconds, or a date. */
export function retryAfterMsOf(header: string | null | undefined, nowMs: number): number | undefined {
  if (header === null || header === undefined || header.trim() === '') return undefined
  const waitMs = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - nowMs
  return Number.isFinite(waitMs) ? Math.max(0, waitMs) : undefined
}
