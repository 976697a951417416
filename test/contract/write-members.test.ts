import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DirectoryFault } from '../../shared/domain/group-links/directory.ts'
import type { GraphCall, GraphReply } from '../../shared/graph/graph-calls.ts'
import { NO_REPLY } from '../../shared/graph/graph-calls.ts'
import { retryingCalls } from '../../shared/graph/retrying-calls.ts'
import { addMembers, type MemberWrites, removeMembers } from '../../shared/graph/write-members.ts'
import { user, users } from '../support/jobs/link-directory.ts'

const GROUP = 'dddddddd-0000-4000-8000-000000000001'

const reply = (status: number, message = ''): GraphReply => ({
  status,
  body: message === '' ? undefined : { error: { code: 'Request_BadRequest', message } },
  isJson: true,
  retryAfterMs: undefined,
})
const messageOf = ({ body }: GraphReply) => (body as { error: { message: string } }).error.message
const ALREADY_MEMBER = reply(400, "One or more added object references already exist for: 'members'.")
const unknownAccount = (account: string) => reply(404, `Resource '${account}' does not exist.`)

/** The reply to a batch whose items have these statuses. */
const batchReply = (...statuses: readonly number[]): GraphReply => ({
  ...reply(200),
  body: { responses: statuses.map((status, index) => ({ id: String(index), status, headers: {} })) },
})
const NO_TOKEN = new DirectoryFault('unavailable', 'The directory returned no token.')

/** Writes to a directory with a list of replies, one for each request, in the order of the list. */
function scripted(replies: readonly (GraphReply | DirectoryFault)[]) {
  const sent: GraphCall[] = []
  let ms = 0
  const send = async (_tenantId: string, call: GraphCall): Promise<GraphReply> => {
    sent.push(call)
    const next = replies[sent.length - 1] ?? assert.fail(`No reply for ${call.method} ${call.path}`)
    if (next instanceof DirectoryFault) throw next
    return next
  }
  const nowMs = () => ms
  const sleep = async (delayMs: number) => {
    ms += delayMs
  }
  const writes: MemberWrites = {
    graphUrl: 'https://graph.example',
    tenantId: 'tenant',
    groupId: GROUP,
    deadlineMs: 60_000,
    calls: retryingCalls({ send, sleep, nowMs, random: () => 0 }),
    nowMs,
  }
  return { writes, sent: () => sent.map(({ method }) => method) }
}

describe('Removing members', () => {
  it('counts a member as removed already when Graph reports that it does not exist', async () => {
    const { writes } = scripted([unknownAccount(user(1))])
    const { unchanged, fault } = await removeMembers(writes, [user(1)])
    assert.deepEqual([unchanged, fault], [[user(1)], undefined])
  })

  it('does not count a member as removed when a 404 has a body that is not JSON', async () => {
    const { writes, sent } = scripted(Array<GraphReply>(4).fill({ ...reply(404), isJson: false }))
    const { written, unchanged, fault } = await removeMembers(writes, [user(1)])
    assert.deepEqual([written, unchanged, fault?.kind, sent().length], [[], [], 'unavailable', 4])
  })

  it('counts a removal whose first response was lost as written', async () => {
    const { writes } = scripted([NO_REPLY, unknownAccount(user(1))])
    const { written, unchanged } = await removeMembers(writes, [user(1)])
    assert.deepEqual([written, unchanged], [[user(1)], []])
  })

  it('counts what was removed before a retry found no token, and does not give back what may have been', async () => {
    const { writes } = scripted([batchReply(503, 204, 204), NO_TOKEN])
    const { written, refused, sentCount, fault } = await removeMembers(writes, users(1, 3))
    assert.deepEqual([written, refused, sentCount, fault], [users(2, 2), [], 3, NO_TOKEN])
  })

  it('gives everything back when no token could be had before the first attempt', async () => {
    const { writes } = scripted([NO_TOKEN])
    const { written, refused, sentCount, fault } = await removeMembers(writes, users(1, 3))
    assert.deepEqual([written, refused, sentCount, fault], [[], users(1, 3), 0, NO_TOKEN])
  })

  it('does not give back a removal that is refused after its first response was lost', async () => {
    const { writes } = scripted([NO_REPLY, reply(403, 'This member cannot be removed.')])
    const { written, refused, accountFault } = await removeMembers(writes, [user(1)])
    assert.deepEqual([written, refused, accountFault?.kind], [[], [], 'refused'])
  })

  it('ends with a fault when one removal is throttled beside others', async () => {
    const throttled = { ...reply(429), retryAfterMs: 60_000 }
    const { writes } = scripted([batchReply(204, 503, 204), throttled])
    const { written, fault, accountFault } = await removeMembers(writes, users(1, 3))
    assert.deepEqual([written, fault?.kind, accountFault], [[user(1), user(3)], 'throttled', undefined])
  })
})

describe('Adding members', () => {
  it('counts an addition as written when the response of the first PATCH was lost and a second one named an unknown account', async () => {
    const { writes, sent } = scripted([NO_REPLY, unknownAccount(user(1)), ALREADY_MEMBER])
    const { written, unchanged, missing } = await addMembers(writes, users(1, 2))
    assert.deepEqual([written, unchanged, missing], [[user(2)], [], [user(1)]])
    assert.deepEqual(sent(), ['PATCH', 'PATCH', 'PATCH'])
  })

  it('counts a member as unchanged when each response was received', async () => {
    const { writes } = scripted([unknownAccount(user(1)), ALREADY_MEMBER])
    const { written, unchanged, missing } = await addMembers(writes, users(1, 2))
    assert.deepEqual([written, unchanged, missing], [[], [user(2)], [user(1)]])
  })

  it('counts what was added before a retry found no token', async () => {
    const { writes } = scripted([batchReply(204, 503), NO_TOKEN])
    const { written, sentCount, fault } = await addMembers(writes, users(1, 40))
    assert.deepEqual([written, sentCount, fault], [users(1, 20), 2, NO_TOKEN])
  })

  it('sends an addition again after a 409, and counts it as written', async () => {
    const { writes, sent } = scripted([reply(409, 'Another object with the same value'), reply(204)])
    const { written, fault } = await addMembers(writes, [user(1)])
    assert.deepEqual([written, fault, sent().length], [[user(1)], undefined, 2])
  })
})

describe('Adding an account that the directory refuses', () => {
  const NO_GUESTS = reply(403, 'Guests users are not allowed to join this Unified Group due to policy setting.')
  const NO_PERMISSION = reply(403, 'Insufficient privileges to complete the operation.')
  const OTHER = reply(403, 'The object cannot be a member.')

  type Item = { readonly id: string; readonly body: unknown }

  /** Adds accounts to a group that refuses each call which names one of `refused`. */
  async function added(
    accounts: readonly string[],
    { refused, refusal, refusedBefore = [], members = [] }: RefusingGroup,
  ) {
    const names = (body: unknown, of: readonly string[]) => of.some((account) => JSON.stringify(body).includes(account))
    const replyTo = (body: unknown) => {
      if (names(body, refused)) return refusal
      return names(body, members) ? ALREADY_MEMBER : reply(204)
    }
    const send = async (_tenantId: string, { path, body }: GraphCall): Promise<GraphReply> => {
      if (path !== '/$batch') return replyTo(body)
      const { requests } = body as { requests: readonly Item[] }
      const responses = requests.map((item) => ({ id: item.id, headers: {}, ...replyTo(item.body) }))
      return { ...reply(200), body: { responses } }
    }
    const { writes } = scripted([])
    const calls = retryingCalls({ send, sleep: async () => undefined, nowMs: () => 0, random: () => 0 })
    const { fault, ...outcome } = await addMembers({ ...writes, calls }, accounts, refusedBefore)
    return { ...outcome, fault: fault?.message }
  }

  type RefusingGroup = {
    readonly refused: readonly string[]
    readonly refusal: GraphReply
    readonly refusedBefore?: readonly string[]
    readonly members?: readonly string[]
  }

  const UNKNOWN_CAUSE: [claim: string, refusal: GraphReply][] = [
    ['a 403 as for a missing permission', NO_PERMISSION],
    ['another 403', OTHER],
    ['a 400', reply(400, 'The object cannot be a member.')],
  ]
  for (const [claim, refusal] of UNKNOWN_CAUSE) {
    const message = `The directory returned HTTP ${refusal.status}: ${messageOf(refusal)}`

    it(`names the account and adds the others, after ${claim} for it alone`, async () => {
      const outcome = await added(users(1, 120), { refused: [user(30)], refusal })
      assert.deepEqual(new Set(outcome.written), new Set(users(1, 120)).difference(new Set([user(30)])))
      assert.deepEqual([outcome.missing, outcome.refusal, outcome.fault], [[user(30)], message, undefined])
    })

    it(`names the account after ${claim} when the others are members already`, async () => {
      const outcome = await added(users(1, 2), { refused: [user(1)], refusal, members: [user(2)] })
      assert.deepEqual([outcome.missing, outcome.unchanged, outcome.fault], [[user(1)], [user(2)], undefined])
    })

    it(`names no account after ${claim} for each one, and sends nothing more`, async () => {
      const outcome = await added(users(1, 45), { refused: users(1, 45), refusal })
      assert.deepEqual([outcome.written, outcome.missing, outcome.refusal], [[], [], undefined])
      // Three PATCHes, and each account of the first one.
      assert.deepEqual([outcome.fault, outcome.sentCount], [message, 23])
    })
  }

  it('names no account when nothing else is added and the reply is that of a missing permission', async () => {
    for (const refusedBefore of [[], [user(1)]]) {
      const outcome = await added([user(1)], { refused: [user(1)], refusal: NO_PERMISSION, refusedBefore })
      assert.deepEqual(
        [outcome.missing, outcome.fault],
        [[], `The directory returned HTTP 403: ${messageOf(NO_PERMISSION)}`],
      )
    }
  })

  it('names guests of a group without guests, also when nobody else is added', async () => {
    for (const accounts of [users(1, 1), users(1, 45)]) {
      const { missing, fault } = await added(accounts, { refused: accounts, refusal: NO_GUESTS })
      assert.deepEqual([missing, fault], [accounts, undefined])
    }
  })

  it('names an account again that was refused before, also when nobody else is added', async () => {
    const group = { refused: [user(1)], refusal: OTHER }
    assert.deepEqual((await added([user(1)], group)).missing, [])
    const again = await added([user(1)], { ...group, refusedBefore: [user(1)] })
    assert.deepEqual([again.missing, again.fault], [[user(1)], undefined])
  })
})
