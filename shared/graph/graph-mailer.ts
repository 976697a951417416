import type { Mailer } from '../domain/mail/mail-dependencies.ts'
import { replyFault, replyKind, type SendCall } from './graph-calls.ts'
import { mimeMessage } from './mime-message.ts'

type MailerOptions = {
  /** Address of the mailbox. */
  readonly sender: string
  /** The tenant of the mailbox. */
  readonly tenantId: string
  readonly send: SendCall
  nowMs(): number
}

/**
 * Graph refuses the message itself. Other refusals concern the mailbox or the permission, and an answer that is not
 * Graph's own says nothing of the message.
 */
const REFUSED_STATUSES: readonly number[] = [400, 413]

/**
 * Sends mails from one mailbox of the directory, in MIME format, so that a mail has both bodies and a `Message-ID` of
 * ours. https://learn.microsoft.com/graph/api/user-sendmail
 */
export function graphMailer({ sender, tenantId, send, nowMs }: MailerOptions): Mailer {
  const path = `/users/${encodeURIComponent(sender)}/sendMail`
  return {
    async send(mail) {
      const message = mimeMessage({ ...mail, from: sender, atMs: nowMs() })
      const body = Buffer.from(message).toString('base64')
      const reply = await send(tenantId, { method: 'POST', path, body, contentType: 'text/plain' })
      const kind = replyKind(reply)
      if (kind === 'done') return true
      if (kind === 'denied' && REFUSED_STATUSES.includes(reply.status)) return false
      throw replyFault(reply)
    },
  }
}
