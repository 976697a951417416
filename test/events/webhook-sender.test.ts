import assert from 'node:assert/strict'
import type { lookup } from 'node:dns'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, it } from 'node:test'
import { targetKind } from '../../shared/webhooks/event-targets.ts'
import { isPublicAddress } from '../../shared/webhooks/public-addresses.ts'
import { webhookSender } from '../../shared/webhooks/webhook-sender.ts'
import { signaturesOf } from '../../shared/webhooks/webhook-signature.ts'

const requests: string[] = []
const server = createServer((request, response) => {
  requests.push(request.url ?? '')
  if (request.url === '/silent') return
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

describe('An address', () => {
  for (const address of [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '127.255.255.254',
    '168.63.129.16',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b:1::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fe80::1%eth0',
    'ff02::1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    '3fff::1',
    '5f00::1',
    'localhost',
    '',
  ])
    it(`${address} is not public`, () => assert.equal(isPublicAddress(address), false))

  for (const address of ['8.8.8.8', '172.15.255.255', '172.32.0.1', '2606:4700::1111', '2a01:111::1'])
    it(`${address} is public`, () => assert.equal(isPublicAddress(address), true))
})

describe('The address of a subscription', () => {
  for (const url of [
    'https://127.0.0.1/',
    'https://127.1/',
    'https://0x7f.0.0.1/',
    'https://2130706433/',
    'https://0177.0.0.1/',
    'https://127。0。0。1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://169.254.169.254/metadata',
    'http://example.com/',
    'http://127.0.0.1.example.com/',
    'https://user@example.com/',
    'file:///etc/passwd',
    'nothing',
  ])
    it(`${url} is refused`, () => assert.equal(typeof targetKind(url, ['http://127.0.0.1']), 'object'))

  for (const [url, prefix, expected] of [
    ['http://127.0.0.1:81/a', 'http://127.0.0.1', 'allowed'],
    ['http://10.0.0.1/hooks/a', 'http://10.0.0.1/hooks', 'allowed'],
    ['http://10.0.0.1/hooks', 'http://10.0.0.1/hooks', 'allowed'],
    ['https://10.0.0.1:8443/', 'https://10.0.0.1:8443', 'allowed'],
    ['https://example.com/', 'http://127.0.0.1', 'public'],
  ] as const)
    it(`${url} with ${prefix} is ${expected}`, () => assert.equal(targetKind(url, [prefix]), expected))

  for (const [url, prefix] of [
    ['http://10.0.0.1/hooks-of-others', 'http://10.0.0.1/hooks'],
    ['http://10.0.0.1/hooks/../admin', 'http://10.0.0.1/hooks'],
    ['https://10.0.0.1:8444/', 'https://10.0.0.1:8443'],
    ['https://10.0.0.1/', 'http://10.0.0.1'],
    ['http://a:b@127.0.0.1/', 'http://127.0.0.1'],
  ] as const)
    it(`${url} is refused although ${prefix} is allowed`, () =>
      assert.equal(typeof targetKind(url, [prefix]), 'object'))
})

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

  it('fails where nothing listens', async () => {
    assert.deepEqual(await attempt('http://127.0.0.1:9/', ['http://127.0.0.1']), [null, 'ConnectionFailed'])
  })

  it('ends without an answer after ten seconds', async () => {
    assert.deepEqual(await attempt(`http://127.0.0.1:${port}/silent`, ['http://127.0.0.1']), [null, 'Timeout'])
  })

  it('is signed as the example of the specification', () => {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const signature = signaturesOf([secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}')
    assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })
})
