import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DirectoryFault } from '../../shared/domain/group-links/directory.ts'
import { graphMailer } from '../../shared/graph/graph-mailer.ts'

const MAIL = { to: 'ann@one.example', subject: 'Hello', text: 'Hello', html: '<p>Hello</p>', messageKey: 'a' }

/** Sends a mail that gets this answer. @returns Whether it was sent. */
const sentTo = (status: number, isJson: boolean): Promise<boolean> =>
  graphMailer({
    sender: 'service@one.example',
    tenantId: 'one',
    nowMs: () => Date.parse('2030-01-01T00:00:00Z'),
    send: async () => ({ status, body: undefined, isJson, retryAfterMs: undefined }),
  }).send(MAIL)

describe('A mail', () => {
  for (const status of [400, 413]) {
    it(`is given up where the directory itself answers ${status}`, async () => {
      assert.equal(await sentTo(status, true), false)
    })

    it(`is sent again where another server in between answers ${status}`, async () => {
      await assert.rejects(sentTo(status, false), DirectoryFault)
    })
  }
})
