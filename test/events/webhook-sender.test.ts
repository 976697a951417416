import assert from 'node:assert/strict'
import type { lookup } from 'node:dns'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { webhookSender } from '../../shared/webhooks/webhook-sender.ts'
import { signaturesOf } from '../../shared/webhooks/webhook-signature.ts'

const requests: string[] = []
const server = createServer((request, response) => {
  requests.push(request.url ?? '')
  if (request.url === '/silent') return
  if (request.url === '/upgrade') {
    request.socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n')
    return
  }
  response.end('x'.repeat(request.url === '/long' ? 1_000_000 : 1))
})
await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
const { port } = server.address() as AddressInfo
after(() => {
  server.close()
  server.closeAllConnections()
})

/** Resolves every name to these addresses, one list for each call. */
function namesAt(...answers: string[][]): typeof lookup {
  let index = 0
  const resolve = (_host: string, _options: object, callback: (error: null, found: object[]) => void) => {
    const addresses = answers[Math.min(index, answers.length - 1)] ?? []
    index += 1
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
  return resolve as unknown as typeof lookup
}

const senderTo = (targets: readonly string[], names = namesAt(['127.0.0.1'])) =>
  webhookSender({ targets, nowMs: () => 1_614_265_330_000, elapsedMs: () => performance.now(), lookup: names })

const attempt = async (url: string, targets: readonly string[] = [], names?: typeof lookup) => {
  const { status, error } = await senderTo(targets, names).send({ url }, ['whsec_AAAA'], { id: 'a', body: '{}' })
  return [status, error]
}

describe('A delivery', () => {
  it('is not sent where any address of a name is not public', async () => {
    const before = requests.length
    const url = `https://receiver.example:${port}/name`
    assert.deepEqual(await attempt(url), [null, 'TargetNotAllowed'])
    assert.deepEqual(await attempt(url, [], namesAt(['8.8.8.8', '127.0.0.1'])), [null, 'TargetNotAllowed'])
    assert.deepEqual(await attempt(url, [], namesAt(['::ffff:127.0.0.1'])), [null, 'TargetNotAllowed'])
    assert.equal(requests.length, before)
  })

  it('goes to the address that was checked: a name is resolved once for a connection', async () => {
    let count = 0
    const names = namesAt(['192.0.2.1'], ['127.0.0.1'])
    const counted = ((...args: Parameters<typeof names>) => {
      count += 1
      return names(...args)
    }) as typeof lookup
    assert.deepEqual(await attempt(`https://receiver.example:${port}/`, [], counted), [null, 'TargetNotAllowed'])
    assert.equal(count, 1)
  })

  it('has the status of the answer, however long that is', async () => {
    assert.deepEqual(await attempt(`http://127.0.0.1:${port}/long`, ['http://127.0.0.1']), [200, null])
    assert.deepEqual(await attempt(`http://127.0.0.1:${port}/short`, ['http://127.0.0.1']), [200, null])
  })

  it('fails where the answer changes the protocol', async () => {
    const target = `http://127.0.0.1:${port}`
    assert.deepEqual(await attempt(`${target}/upgrade`, [target]), [null, 'ConnectionFailed'])
  })

  it('fails where nothing listens', async () => {
    assert.deepEqual(await attempt('http://127.0.0.1:9/', ['http://127.0.0.1']), [null, 'ConnectionFailed'])
  })

  it('ends without an answer after ten seconds, and delays none to others on the same host', async () => {
    const sender = senderTo(['http://127.0.0.1'])
    const send = (path: string) =>
      sender.send({ url: `http://127.0.0.1:${port}${path}` }, ['whsec_AAAA'], { id: 'a', body: '{}' })
    const ended: string[] = []
    const silent = Array.from({ length: 40 }, () => send('/silent').finally(() => ended.push('silent')))
    const other = send('/other').finally(() => ended.push('other'))
    const [{ error }, { status }] = [await (silent[0] as (typeof silent)[number]), await other]
    assert.deepEqual([error, status, ended[0]], ['Timeout', 200, 'other'])
    await Promise.all(silent)
  })

  it('is signed as the example of the specification', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const signature = signaturesOf([secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}')
    assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })
})
