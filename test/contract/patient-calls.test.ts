import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GraphCall } from '../../shared/graph/graph-calls.ts'
import type { GraphReply } from '../../shared/graph/graph-reply.ts'
import { retryingCalls } from '../../shared/graph/retrying-calls.ts'

type Item = { readonly id: string; readonly method: string; readonly url: string }
type ItemReply = { readonly status: number; readonly retryAfterS?: number }

/** A directory that gives each path one reply after the other, the last one for good, and notes what came when. */
function scripted(
  replies: Readonly<Record<string, readonly ItemReply[]>>,
  { heldUpMs = 0, untilMs = Number.POSITIVE_INFINITY } = {},
) {
  let ms = 0
  const sent: { atS: number; paths: string[] }[] = []
  const seenCounts = new Map<string, number>()
  const replyTo = (path: string): ItemReply => {
    const seenCount = seenCounts.get(path) ?? 0
    seenCounts.set(path, seenCount + 1)
    const list = replies[path] ?? []
    return list[Math.min(seenCount, list.length - 1)] ?? { status: 204 }
  }
  const send = async (_tenantId: string, { path, body }: GraphCall): Promise<GraphReply> => {
    const items = path === '/$batch' ? (body as { requests: Item[] }).requests : undefined
    sent.push({ atS: Math.round(ms / 1000), paths: items?.map(({ url }) => url) ?? [path] })
    if (items === undefined) {
      const { status, retryAfterS } = replyTo(path)
      const retryAfterMs = retryAfterS === undefined ? undefined : retryAfterS * 1000
      return { status, body: undefined, isJson: true, retryAfterMs }
    }
    const responses = items.map(({ id, url }) => {
      const { status, retryAfterS } = replyTo(url)
      return { id, status, headers: retryAfterS === undefined ? {} : { 'Retry-After': String(retryAfterS) } }
    })
    return { status: 200, body: { responses: responses.reverse() }, isJson: true, retryAfterMs: undefined }
  }
  const sleep = async (delayMs: number) => {
    ms += delayMs + heldUpMs
  }
  const calls = retryingCalls({ send, sleep, nowMs: () => ms, random: () => 0 })
  const settle = (...paths: string[]) =>
    calls.settle(
      'tenant',
      paths.map((path) => ({ method: 'PATCH', path })),
      untilMs,
    )
  return { sent, settle }
}

const throttledFor = (...secondsOfEach: number[]): ItemReply[] => [
  ...secondsOfEach.map((retryAfterS) => ({ status: 429, retryAfterS })),
  { status: 204 },
]

describe('Calls that wait', () => {
  it('send each item of a batch again when its own time has come, and none that is through', async () => {
    const { sent, settle } = scripted({ '/a': throttledFor(2), '/b': throttledFor(7), '/d': throttledFor(2, 5) })
    const replies = await settle('/a', '/b', '/c', '/d')
    assert.deepEqual(sent, [
      { atS: 0, paths: ['/a', '/b', '/c', '/d'] },
      { atS: 2, paths: ['/a', '/d'] },
      { atS: 7, paths: ['/b', '/d'] },
    ])
    assert.deepEqual(
      replies.map(({ reply, triesCount, mayBeDoneBefore }) => [reply.status, triesCount, mayBeDoneBefore]),
      [
        [204, 2, true],
        [204, 2, true],
        [204, 1, false],
        [204, 3, true],
      ],
    )
  })

  it('leave a longer wait to those above, without holding up the others', async () => {
    const { sent, settle } = scripted({ '/a': throttledFor(60), '/b': throttledFor(2) })
    const [long, short] = await settle('/a', '/b')
    assert.deepEqual([long?.reply.status, long?.reply.retryAfterMs, short?.reply.status], [429, 60_000, 204])
    assert.deepEqual(sent.at(-1), { atS: 2, paths: ['/b'] })
  })

  it('are sent four times at most, each wait longer than the one before', async () => {
    const { sent, settle } = scripted({ '/a': [{ status: 503 }] })
    const [settled] = await settle('/a')
    assert.deepEqual([settled?.reply.status, settled?.triesCount, sent.length], [503, 4, 4])
  })

  it('are not sent again once the time for them is over, though it ended while the process was held up', async () => {
    const { sent, settle } = scripted({ '/a': throttledFor(2) }, { heldUpMs: 60_000, untilMs: 30_000 })
    const [settled] = await settle('/a')
    assert.deepEqual([settled?.reply.status, settled?.triesCount, sent.length], [429, 1, 1])
  })

  it('are not sent again when the answer is clear', async () => {
    const { sent, settle } = scripted({ '/a': [{ status: 403 }], '/b': [{ status: 404 }], '/c': [{ status: 400 }] })
    await settle('/a', '/b', '/c')
    assert.equal(sent.length, 1)
  })
})
