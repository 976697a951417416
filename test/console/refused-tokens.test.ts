import assert from 'node:assert/strict'
import { beforeEach, describe, it, mock } from 'node:test'
import { apiOf } from '../../functions/console/api.ts'
import { SignInEnded } from '../../functions/console/sign-in.ts'

describe('A call of the console whose token the API refuses', () => {
  let sent: (string | null)[] = []
  let accepted = ''
  beforeEach(() => {
    sent = []
    mock.method(globalThis, 'fetch', async (_: string, { headers }: RequestInit) => {
      const token = new Headers(headers).get('authorization')
      sent.push(token)
      const isAccepted = token === `Bearer ${accepted}`
      return Response.json({ data: 'answer', errors: [] }, { status: isAccepted ? 200 : 401 })
    })
  })

  /** A session that keeps its token until it is told that the token is refused. */
  const session = {
    username: 'ada@nordvag.example',
    accessToken: async (refused?: string) => (refused === 'old' ? 'new' : 'old'),
  }

  it('is repeated with another token than the refused one', async () => {
    accepted = 'new'
    assert.equal(await apiOf(session).read('/me'), 'answer')
    assert.deepEqual(sent, ['Bearer old', 'Bearer new'])
  })

  it('ends the sign-in when the API refuses the other token as well', async () => {
    accepted = 'none'
    await assert.rejects(apiOf(session).read('/me'), SignInEnded)
    assert.equal(sent.length, 2)
  })
})
