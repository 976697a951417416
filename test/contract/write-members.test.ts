import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
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
const ALREADY_MEMBER = reply(400, "One or more added object references already exist for: 'members'.")
const unknownAccount = (account: string) => reply(404, `Resource '${account}' does not exist.`)

/** Writes to a directory with a list of replies; each call alone, in the order of the list. */
function scripted(replies: readonly GraphReply[]) {
  const sent: GraphCall[] = []
  let ms = 0
  const send = async (_tenantId: string, call: GraphCall): Promise<GraphReply> => {
    sent.push(call)
    return replies[sent.length - 1] ?? assert.fail(`No reply for ${call.method} ${call.path}`)
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

  it('sends an addition again after a 409, and counts it as written', async () => {
    const { writes, sent } = scripted([reply(409, 'Another object with the same value'), reply(204)])
    const { written, fault } = await addMembers(writes, [user(1)])
    assert.deepEqual([written, fault, sent().length], [[user(1)], undefined, 2])
  })
})
