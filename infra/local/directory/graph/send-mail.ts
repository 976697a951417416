import { parseMimeMessage } from '../mime-message.ts'
import { answered, badRequest, type GraphAnswer, type GraphCall, GraphRefusal, type SentMail } from './exchange.ts'

/**
 * `POST /users/{id}/sendMail`: a message in MIME format, base64-encoded, as `text/plain`.
 * https://learn.microsoft.com/graph/api/user-sendmail
 */
export function sendMail(call: GraphCall): GraphAnswer {
  const { id = '' } = call.parameters
  const { objects, caller, body, nowMs } = call
  const sender = id.includes('@')
    ? objects.findByUserPrincipalName(caller.tenantId, id)
    : objects.find(caller.tenantId, id)
  if (sender?.type !== 'user') throw new GraphRefusal(404, 'ErrorInvalidUser', `The requested user '${id}' is invalid.`)
  const from = String(sender.properties.mail ?? sender.properties.userPrincipalName)
  const at = new Date(nowMs).toISOString().replace('Z', '+00:00')
  if (typeof body !== 'string')
    throw badRequest('Only messages in MIME format are supported here.', 'ErrorInvalidParameter')
  call.mails.add(fromMime(body, { at, from }))
  return answered(202)
}

type Sent = Pick<SentMail, 'at' | 'from'>

const BASE64 = /^[A-Za-z0-9+/\r\n]+={0,2}\s*$/

function fromMime(body: string, sent: Sent): SentMail {
  if (!BASE64.test(body)) {
    throw badRequest('Invalid base64 string for MIME content.', 'ErrorMimeContentInvalidBase64String')
  }
  const message = parseMimeMessage(Buffer.from(body, 'base64'))
  if (message === undefined) throw badRequest('Invalid MIME content.', 'ErrorMimeContentInvalid')
  const { headers, text, html } = message
  const to = (headers.get('to') ?? '').split(',').flatMap((address) => addressIn(address) ?? [])
  if (to.length === 0) throw badRequest('At least one recipient must be specified.', 'ErrorInvalidRecipients')
  return {
    ...sent,
    to,
    subject: headers.get('subject') ?? '',
    text,
    html,
    messageId: headers.get('message-id') ?? null,
  }
}

/** `Anna <anna@example.com>`, or the address alone. */
function addressIn(text: string): string | undefined {
  const address = /<([^>]*)>/.exec(text)?.[1] ?? text.trim()
  return address.includes('@') ? address : undefined
}
