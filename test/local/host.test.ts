import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HostOptions, LocalHost } from '../../infra/local/host/host.ts'
import { FIXTURES, type FixtureHost, startFixtureHost } from '../support/local/host-fixtures/fixture-host.ts'
import { observed } from '../support/local/host-fixtures/observed.ts'

let hosts: LocalHost[] = []

async function start(options?: Partial<HostOptions>): Promise<FixtureHost> {
  const host = await startFixtureHost(options)
  hosts.push(host)
  return host
}

describe('The local host', () => {
  beforeEach(() => {
    for (const list of [observed.messages, observed.timerRuns, observed.ended]) {
      list.length = 0
    }
  })

  afterEach(async () => {
    await Promise.all(hosts.map((host) => host.close()))
    hosts = []
  })

  async function until(holds: () => boolean): Promise<void> {
    for (let attempt = 0; !holds(); attempt++) {
      if (attempt === 200) throw new Error('It did not come to pass within 2 s')
      await sleep(10)
    }
  }

  async function visits(host: LocalHost): Promise<number> {
    const counted = (await (await fetch(`${host.url}/visits`)).json()) as { visits: number }
    return counted.visits
  }

  describe('starting', () => {
    it('loads the entry files that package.json names and lists their functions', async () => {
      const { functions } = await start()
      assert.equal(functions.length, 19)
      assert.deepEqual(
        functions.filter(({ trigger }) => trigger !== 'http'),
        [
          { name: 'message', trigger: 'serviceBus' },
          { name: 'second', trigger: 'serviceBus' },
          { name: 'hourly', trigger: 'timer' },
        ],
      )
    })

    it('several hosts, in sequence and in parallel, run the same handlers with the same state', async () => {
      const first = await start()
      const before = await visits(first)
      await first.close()
      const [second, third] = await Promise.all([start(), start({ entries: ['functions/http.ts'] })])
      assert.equal(await visits(second), before + 1)
      assert.equal(await visits(third), before + 2)
      assert.equal(second.functions.length, 19)
      assert.equal(third.functions.length, 16)
      assert.equal(observed.evaluations, 1)
    })

    it('can use a port that was just released', async () => {
      const first = await start()
      await visits(first)
      await first.close()
      const port = Number(new URL(first.url).port)
      assert.equal((await start({ port })).url, first.url)
    })

    it('adds the route prefix of host.json, by default api, to every route', async () => {
      const { url } = await start({ appFolder: join(FIXTURES, 'prefixed'), entries: ['*.ts'] })
      assert.equal(await (await fetch(`${url}/api/plain`)).text(), 'plain')
      assert.equal((await fetch(`${url}/plain`)).status, 404)
    })

    it('runs the hook of its end', async () => {
      const host = await start()
      await host.close()
      assert.deepEqual(observed.ended, ['app'])
    })

    it('fails if the port is in use on either address', async () => {
      for (const address of ['127.0.0.1', '::1']) {
        const other = createServer().listen(0, address)
        await once(other, 'listening')
        const { port } = other.address() as AddressInfo
        await assert.rejects(start({ port }), { message: `Port ${port} is in use` }).finally(() => other.close())
      }
    })
  })

  describe('an invalid app', () => {
    const refused = (entry: string) => start({ appFolder: join(FIXTURES, 'faulty'), entries: [entry] })

    it('is refused without registrations', () =>
      assert.rejects(refused('nothing.ts'), /nothing\.ts registered no functions/))

    it('is refused with the cause if it throws while it loads, each time', async () => {
      const expected = { message: /throws\.ts failed to load: no luck today/ }
      await assert.rejects(refused('throws.ts'), expected)
      await assert.rejects(refused('throws.ts'), expected)
    })

    it('is refused without a matching entry file', () =>
      assert.rejects(refused('absent/*.ts'), /No entry file matches absent/))

    it('is refused with a duplicate name', () =>
      assert.rejects(refused('clash.ts'), /Function "Same-Name": the name is not unique/))

    it('is refused with the error of each invalid route', () =>
      assert.rejects(refused('routes.ts'), (error: Error) => {
        assert.deepEqual(error.message.split('\n').slice(1), [
          'Function "admin-like": the route "administrators" conflicts with a route of the host',
          'Function "open-brace": the route "things/{id" is invalid: only literal segments and a last {*name} are supported',
          'Function "twin-two": "twin-one" has the same route "Twins/{*id}" and methods',
        ])
        return true
      }))

    it('is refused with the error of each unsupported option, missing setting, invalid schedule and unknown trigger', () =>
      assert.rejects(refused('settings.ts'), (error: Error) => {
        assert.deepEqual(error.message.split('\n').slice(1), [
          'Function "many": this host does not support cardinality many',
          'Function "no-connection": the connection string ABSENT_BUS is not set',
          'Function "never": the schedule "0 0 0 30 2 *" never occurs',
          'Function "at-start": this host does not support runOnStartup true',
          'Function "nonsense": the schedule "0 0 25 * * *" is invalid',
          'Function "elsewhere": this host does not support queueTrigger',
        ])
        return true
      }))
  })

  describe('a message', () => {
    const SENT = {
      messageId: 'm-1',
      body: Buffer.from('{"job":"j"}'),
      deliveryCount: 0,
      applicationProperties: { Kind: 'x' },
    }

    it('is received with the settings of host.json', async () => {
      const { bus } = await start()
      assert.deepEqual(bus.receivers.messages, {
        options: { receiveMode: 'peekLock', maxAutoLockRenewalDurationInMs: 0, skipParsingBodyAsJson: true },
        maxConcurrentCalls: 2,
      })
      assert.deepEqual(bus.connections, ['Endpoint=sb://nowhere'])
    })

    it('is completed when the handler returns, and its metadata counts deliveries from 1', async () => {
      const { bus } = await start()
      await bus.deliver('messages', SENT)
      assert.deepEqual(bus.events, ['completed m-1'])
      assert.deepEqual(observed.messages, [
        {
          message: { job: 'j' },
          metadata: {
            messageId: 'm-1',
            deliveryCount: 1,
            applicationProperties: { kind: 'x' },
          },
        },
      ])
    })

    it('has its own trace in the host, and the trace of its sender in its properties', async () => {
      const { bus } = await start()
      const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
      observed.traces.length = 0
      await bus.deliver('messages', { ...SENT, applicationProperties: { traceparent, sincems: 1 } })
      assert.deepEqual(observed.messages[0]?.metadata?.applicationProperties, { traceparent, sincems: 1 })
      assert.match(observed.traces[0]?.traceParent ?? '', /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/)
      assert.notEqual(observed.traces[0]?.traceParent, traceparent)
    })

    it('is abandoned if the handler throws, and redelivered with delivery count 2', async () => {
      const { bus, log } = await start()
      await bus.deliver('messages', { ...SENT, body: Buffer.from('{"fail":"not now"}') })
      await until(() => bus.events.length === 2)
      assert.deepEqual(bus.events, ['abandoned m-1', 'abandoned m-1'])
      assert.deepEqual(
        observed.messages.map(({ metadata }) => metadata?.deliveryCount),
        [1, 2],
      )
      assert.match(log.find(({ functionName }) => functionName === 'message')?.message ?? '', /m-1 failed, delivery 1/)
    })

    it('that parses as JSON arrives parsed, others as text', async () => {
      const { bus } = await start()
      await bus.deliver('messages', { ...SENT, body: Buffer.from('5') })
      await bus.deliver('messages', { ...SENT, body: Buffer.from('five') })
      assert.deepEqual(
        observed.messages.map(({ message }) => message),
        [5, 'five'],
      )
    })
  })

  describe('a manual start', () => {
    const order = (host: LocalHost, name: string, body?: string) =>
      fetch(`${host.url}/admin/functions/${name}`, { method: 'POST', ...(body !== undefined && { body }) })

    it('runs a timer and returns 202 immediately', async () => {
      const host = await start()
      const response = await order(host, 'Hourly', '{}')
      assert.deepEqual([response.status, await response.text()], [202, ''])
      await until(() => observed.timerRuns.length === 1)
      const { timer } = observed.timerRuns[0] ?? {}
      assert.equal(timer?.isPastDue, false)
      assert.match(timer?.scheduleStatus.next ?? '', /:00:00\.000Z$/)
    })

    it('refuses an unknown function, and one of another kind', async () => {
      const host = await start()
      assert.equal((await order(host, 'absent', '{}')).status, 404)
      assert.equal((await order(host, 'trivial', '{}')).status, 404)
      assert.equal((await fetch(`${host.url}/admin/functions/hourly`)).status, 404)
      assert.equal((await fetch(`${host.url}/admin`)).status, 404)
      assert.equal((await order(host, 'message', '{}')).status, 404)
      await assert.rejects(host.invoke('trivial'), { message: 'There is no timer function "trivial"' })
    })

    it('is refused under a name that is not of this machine, and from pages of other sites', async () => {
      const host = await start()
      const { host: authority, port } = new URL(host.url)
      const orderWith = async (headers: Record<string, string>) => {
        const request = httpRequest(`${host.url}/admin/functions/hourly`, { method: 'POST', headers })
        const [response] = (await once(request.end(), 'response')) as [IncomingMessage]
        return [response.statusCode, await text(response)]
      }
      for (const headers of [
        { host: `attacker.example:${port}` },
        { host: `localhost.attacker.example:${port}` },
        { host: 'localhost:1' },
        { host: authority, origin: 'http://attacker.example' },
        { host: authority, origin: 'https://localhost' },
        { host: authority, origin: 'null' },
      ]) {
        const [status, explanation] = await orderWith(headers)
        assert.equal(status, 403, JSON.stringify(headers))
        assert.match(String(explanation), /use a loopback name as Host, and no Origin of another site/)
      }
      assert.deepEqual(observed.timerRuns, [])
      for (const headers of [{ host: `127.0.0.1:${port}` }, { host: `[::1]:${port}`, origin: host.url }]) {
        assert.deepEqual(await orderWith(headers), [202, ''])
      }
    })
  })

  describe('closing', () => {
    it('completes current requests, then accepts no more', async () => {
      const host = await start()
      await fetch(`${host.url}/trivial`)
      const answer = fetch(`${host.url}/slow?delayMs=200`)
      await sleep(50)
      const closing = host.close()
      const response = await answer
      assert.equal(await response.text(), 'done')
      assert.equal(response.headers.get('connection'), 'close')
      await closing
      await assert.rejects(fetch(`${host.url}/trivial`))
    })

    it('waits for a message handler and completes its message before the receiver closes', async () => {
      const host = await start()
      const delivery = host.bus.deliver('messages', { messageId: 'm-2', body: Buffer.from('{"delayMs":100}') })
      await sleep(20)
      const closing = host.close()
      await host.bus.deliver('messages', { messageId: 'late', body: Buffer.from('{}'), deliveryCount: 1 })
      await Promise.all([closing, delivery])
      assert.deepEqual(host.bus.events, [
        'messages stopped',
        'others stopped',
        'abandoned late',
        'completed m-2',
        'messages closed',
        'others closed',
        'client closed',
      ])
    })

    it('waits for a handler whose client has disconnected', async () => {
      const host = await start()
      const impatient = new AbortController()
      const [begun, answer] = [once(observed.begun, 'slow'), fetch(`${host.url}/slow?delayMs=200`, impatient)]
      await begun
      impatient.abort()
      await assert.rejects(answer)
      await host.close()
      assert.deepEqual(observed.ended, ['slow', 'app'])
    })

    it('waits at most 4 s, and closes once', async () => {
      const host = await start()
      const answer = assert.rejects(fetch(`${host.url}/slow?delayMs=4500`))
      await sleep(50)
      const startMs = performance.now()
      await Promise.all([host.close(), host.close(), answer])
      assert.ok(performance.now() - startMs < 4_000)
      assert.match(host.log.at(-1)?.message ?? '', /still running/)
      assert.deepEqual(observed.ended, ['app'])
    })
  })
})
