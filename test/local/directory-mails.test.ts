import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { mimeMessage } from '../../shared/graph/mime-message.ts'
import { openDirectory, SMALL_TENANT, TENANT, type TestDirectory } from '../support/jobs/link-directory.ts'

const SENDER = 'user0@one.example'
const SUBJECT = `Æ ${'ø'.repeat(80)} 🙂 er nå medlem`
const MAIL = {
  from: SENDER,
  to: 'anna@one.example',
  subject: SUBJECT,
  text: 'Hei på deg\n',
  html: '<p>Hei på deg</p>',
  messageKey: '7d1a2f64-0b7c-8d52-9a3e-1c6f0f6f2b90',
  atMs: Date.parse('2030-06-01T08:00:00Z'),
}
const PATH = `/users/${SENDER}/sendMail`

describe('sendMail of the local directory', () => {
  let fixture: TestDirectory
  before(async () => {
    fixture = await openDirectory()
  })
  after(() => fixture.close())

  const post = (path: string, body: unknown, contentType?: 'text/plain', tenantId = TENANT) =>
    fixture
      .adapterParts((wire) => wire)
      .send(tenantId, { method: 'POST', path, body, ...(contentType === undefined ? {} : { contentType }) })
  const encoded = (text: string) => Buffer.from(text).toString('base64')
  const codeOf = ({ body }: { readonly body: unknown }) => (body as { error: { code: string } }).error.code

  it('answers 202 without a body, and keeps the message as it was sent', async () => {
    const { status, body } = await post(PATH, encoded(mimeMessage(MAIL)), 'text/plain')
    assert.deepEqual([status, body], [202, undefined])
    const [{ at, ...mail } = assert.fail('no mail')] = fixture.server.mails()
    assert.match(at, /^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/)
    assert.deepEqual(mail, {
      from: SENDER,
      to: [MAIL.to],
      subject: SUBJECT,
      text: MAIL.text,
      html: MAIL.html,
      messageId: `<${MAIL.messageKey}@one.example>`,
    })
  })

  it('lists the newest first', async () => {
    const second = encoded(mimeMessage({ ...MAIL, subject: 'Second' }))
    assert.equal((await post(PATH, second, 'text/plain')).status, 202)
    assert.deepEqual(
      fixture.server.mails().map(({ subject }) => subject),
      ['Second', SUBJECT],
    )
    const response = await fetch(`${fixture.server.url}/local/mails`)
    assert.deepEqual(await response.json(), fixture.server.mails())
  })

  it('refuses what Graph refuses', async () => {
    const mime = encoded(mimeMessage(MAIL))
    const refusals = [
      await post('/users/nobody@one.example/sendMail', mime, 'text/plain'),
      await post(PATH, 'not base64!', 'text/plain'),
      await post(PATH, encoded('Subject: Without a recipient\r\n\r\nText'), 'text/plain'),
      await post(PATH, {}),
      await fixture.asTester({ method: 'POST', path: PATH, body: mime, contentType: 'text/plain' }),
      await post(PATH, mime, 'text/plain', SMALL_TENANT),
    ]
    assert.deepEqual(
      refusals.map((reply) => `${reply.status} ${codeOf(reply)}`),
      [
        '404 ErrorInvalidUser',
        '400 ErrorMimeContentInvalidBase64String',
        '400 ErrorInvalidRecipients',
        '400 ErrorInvalidParameter',
        '403 Authorization_RequestDenied',
        '404 ErrorInvalidUser',
      ],
    )
    assert.equal(fixture.server.mails().length, 2)
  })
})

describe('A message in MIME format', () => {
  it('has ASCII lines of at most 76 characters, whatever its texts contain', () => {
    const lines = mimeMessage({ ...MAIL, text: 'å'.repeat(1000), html: '<p>\r\n.\r\n</p>' }).split('\r\n')
    for (const line of lines) assert.match(line, /^[\x20-\x7e]{0,76}$/)
  })
})
