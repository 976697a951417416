import type { OutgoingMail } from '../domain/mail/mail-dependencies.ts'

type Message = OutgoingMail & { readonly from: string; readonly atMs: number }

/** Characters of a line of base64. RFC 2045 allows 76. */
const LINE_LENGTH = 76
/** Bytes of an encoded word of a header. RFC 2047 allows lines of 76 characters: the name, a frame of 12, and base64. */
const WORD_BYTES = 39

/**
 * The message in MIME format, with the same content as plain text and as HTML. RFC 5322, RFC 2046. All lines are ASCII:
 * texts are encoded, and addresses are checked before.
 */
export function mimeMessage({ from, to, subject, text, html, messageKey, atMs }: Message): string {
  const [, domain = ''] = from.split('@')
  const boundary = `part-${messageKey}`
  return [
    `From: <${from}>`,
    `To: <${to}>`,
    `Subject: ${encodedText(subject)}`,
    `Date: ${new Date(atMs).toUTCString().replace('GMT', '+0000')}`,
    `Message-ID: <${messageKey}@${domain}>`,
    'MIME-Version: 1.0',
    // RFC 3834: no answers of absent people.
    'Auto-Submitted: auto-generated',
    'Content-Type: multipart/alternative;',
    ` boundary="${boundary}"`,
    '',
    ...partOf('text/plain', text, boundary),
    ...partOf('text/html', html, boundary),
    `--${boundary}--`,
    '',
  ].join('\r\n')
}

function partOf(type: string, content: string, boundary: string): string[] {
  const encoded = Buffer.from(content).toString('base64')
  const lines = encoded.match(new RegExp(`.{1,${LINE_LENGTH}}`, 'g')) ?? []
  return [`--${boundary}`, `Content-Type: ${type}; charset=utf-8`, 'Content-Transfer-Encoding: base64', '', ...lines]
}

/** RFC 2047: words of whole characters, each on a line of its own. */
function encodedText(text: string): string {
  const words: string[] = []
  let word = ''
  for (const character of text) {
    if (Buffer.byteLength(word + character) > WORD_BYTES) {
      words.push(word)
      word = ''
    }
    word += character
  }
  words.push(word)
  return words.map((encodable) => `=?utf-8?B?${Buffer.from(encodable).toString('base64')}?=`).join('\r\n ')
}
