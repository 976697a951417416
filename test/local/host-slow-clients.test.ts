import assert from 'node:assert/strict'
import { connect, type Socket } from 'node:net'
import { after, before, beforeEach, describe, it } from 'node:test'
import { readBody } from '../../infra/local/host/http-exchange.ts'
import { type LoopbackServer, listenOnLoopback } from '../../infra/local/host/loopback-server.ts'

const REQUEST_TIMEOUT_MS = 300
const CLIENT_COUNT = 20
/** Much less than the time limit that a server has without another one. */
const MAX_STOP_MS = 10_000

const POST = 'POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n'

describe('a slow client', () => {
  let server: LoopbackServer
  const bodies: string[] = []
  const listen = (requestTimeoutMs?: number) =>
    listenOnLoopback(
      0,
      async (request, response) => {
        const body = await readBody(request)
        bodies.push(String(body))
        if (!response.destroyed && body !== 'aborted') response.end()
      },
      requestTimeoutMs,
    )
  before(async () => {
    server = await listen(REQUEST_TIMEOUT_MS)
  })
  after(async () => {
    server.cut()
    await server.close()
  })
  beforeEach(() => bodies.splice(0))

  /**
   * Sends a partial request, and returns the response after the server has closed the connection: with a reset, if the
   * client still sends.
   */
  async function ended(beginning: string, goOn: (socket: Socket) => void = () => undefined): Promise<string> {
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined)
    socket.write(beginning)
    goOn(socket)
    let received = ''
    socket.setEncoding('latin1').on('data', (text) => {
      received += text
    })
    await new Promise((closed) => socket.once('close', closed))
    return received
  }
  const all = (beginning: string) => Promise.all(Array.from({ length: CLIENT_COUNT }, () => ended(beginning)))

  it('gets 408 for its headers, and its connection is closed', async () => {
    for (const answer of await all(POST)) assert.match(answer, /^HTTP\/1\.1 408 /)
    assert.deepEqual(bodies, [])
  })

  it('gets 408 for its body, and no function runs', async () => {
    for (const answer of await all(`${POST}\r\n{`)) assert.match(answer, /^HTTP\/1\.1 408 /)
    assert.deepEqual(bodies, Array(CLIENT_COUNT).fill('aborted'))
  })

  it('gets no more time if it sends bytes slowly', async () => {
    // The whole body would take two seconds.
    await ended(`${POST}\r\n{`, (socket) => {
      const drip = setInterval(() => socket.write(' '), 20)
      socket.once('close', () => clearInterval(drip))
    })
    assert.deepEqual(bodies, ['aborted'])
  })

  it('does not delay the stop of the server, also after it has disconnected', async (test) => {
    const untimed = await listen()
    test.after(() => {
      untimed.cut()
      return untimed.close()
    })
    const gone = Array.from({ length: CLIENT_COUNT }, () => connect(untimed.port, '127.0.0.1'))
    for (const socket of gone) socket.on('error', () => undefined).write(`${POST}\r\n{`)
    while (bodies.length < CLIENT_COUNT) {
      for (const socket of gone) socket.destroySoon()
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    assert.deepEqual(bodies, Array(CLIENT_COUNT).fill('aborted'))
    const startMs = performance.now()
    await untimed.close()
    assert.ok(performance.now() - startMs < MAX_STOP_MS)
  })
})
