import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { GraphCall, GraphReply } from '../../shared/graph/graph-calls.ts'
import { retryingCalls } from '../../shared/graph/retrying-calls.ts'

type Item = { readonly id: string; readonly method: string; readonly url: string }
type ItemReply = { readonly status: number; readonly retryAfterS?: number }

/** A directory with a list of replies for each path. It repeats the last one, and records its calls with their time. */
function scripted(
  replies: Readonly<Record<string, readonly ItemReply[]>>,
  { suspendedMs = 0, deadlineMs = Number.POSITIVE_INFINITY } = {},
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
    ms += delayMs + suspendedMs
  }
  const calls = retryingCalls({ send, sleep, nowMs: () => ms, random: () => 0 })
  const sendEach = (...paths: string[]) =>
    calls.sendAll(
      'tenant',
      paths.map((path) => ({ method: 'PATCH', path })),
      deadlineMs,
    )
  return { sent, sendEach }
}

const throttledFor = (...secondsOfEach: number[]): ItemReply[] => [
  ...secondsOfEach.map((retryAfterS) => ({ status: 429, retryAfterS })),
  { status: 204 },
]

describe('Retrying calls', () => {
  it('retry each item of a batch after its own Retry-After, and no item that is done', async () => {
    const { sent, sendEach } = scripted({
      '/a': throttledFor(2),
      '/b': throttledFor(7),
      '/d': throttledFor(2, 5),
    })
    const replies = await sendEach('/a', '/b', '/c', '/d')
    assert.deepEqual(sent, [
      { atS: 0, paths: ['/a', '/b', '/c', '/d'] },
      { atS: 2, paths: ['/a', '/d'] },
      { atS: 7, paths: ['/b', '/d'] },
    ])
    assert.deepEqual(
      replies.map(({ reply, attemptCount, mayHaveSucceededBefore }) => [
        reply.status,
        attemptCount,
        mayHaveSucceededBefore,
      ]),
      [
        [204, 2, true],
        [204, 2, true],
        [204, 1, false],
        [204, 3, true],
      ],
    )
  })

  it('leave a longer wait to the caller without delaying other items', async () => {
    const { sent, sendEach } = scripted({ '/a': throttledFor(60), '/b': throttledFor(2) })
    const [long, short] = await sendEach('/a', '/b')
    assert.deepEqual([long?.reply.status, long?.reply.retryAfterMs, short?.reply.status], [429, 60_000, 204])
    assert.deepEqual(sent.at(-1), { atS: 2, paths: ['/b'] })
  })

  it('make at most four attempts', async () => {
    const { sent, sendEach } = scripted({ '/a': [{ status: 503 }] })
    const [result] = await sendEach('/a')
    assert.deepEqual([result?.reply.status, result?.attemptCount, sent.length], [503, 4, 4])
  })

  it('make no attempt after the deadline, also when the process was suspended meanwhile', async () => {
    const { sent, sendEach } = scripted({ '/a': throttledFor(2) }, { suspendedMs: 60_000, deadlineMs: 30_000 })
    const [result] = await sendEach('/a')
    assert.deepEqual([result?.reply.status, result?.attemptCount, sent.length], [429, 1, 1])
  })

  it('make one attempt when the reply is clear', async () => {
    const { sent, sendEach } = scripted({
      '/a': [{ status: 403 }],
      '/b': [{ status: 404 }],
      '/c': [{ status: 400 }],
    })
    await sendEach('/a', '/b', '/c')
    assert.equal(sent.length, 1)
  })
})
