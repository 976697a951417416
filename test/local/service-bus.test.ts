import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { ServiceBusClient, type ServiceBusReceivedMessage, type ServiceBusReceiver } from '@azure/service-bus'
import rhea from 'rhea'
import {
  type LocalServiceBus,
  type LocalServiceBusOptions,
  startServiceBus,
} from '../../infra/local/service-bus/broker.ts'

const QUEUES = [
  { name: 'jobs', lockDurationS: 300, maxDeliveryCount: 10 },
  { name: 'twice', lockDurationS: 300, maxDeliveryCount: 2 },
  { name: 'expiring', lockDurationS: 300, maxDeliveryCount: 10, defaultTimeToLiveS: 60, deadLetterOnExpiration: true },
]
const HOUR_MS = 3_600_000
const ONE_TRY = { retryOptions: { maxRetries: 0, timeoutInMs: 5_000 } }

const directory = await mkdtemp(join(tmpdir(), 'service-bus-'))
describe('The local broker', () => {
  after(() => rm(directory, { recursive: true }))
  const newFile = (): string => join(directory, `${Math.random().toString(36).slice(2)}.db`)

  /** Runs a test with its own broker. An error of the broker fails the test. */
  async function onBus(
    options: Partial<LocalServiceBusOptions>,
    test: (bus: LocalServiceBus, client: ServiceBusClient) => Promise<void>,
  ): Promise<void> {
    const faults: unknown[] = []
    const onFault = (fault: unknown): void => void faults.push(fault)
    const bus = await startServiceBus({ port: 0, file: ':memory:', queues: QUEUES, onFault, ...options })
    const client = new ServiceBusClient(bus.connectionString, ONE_TRY)
    try {
      await test(bus, client)
    } finally {
      await client.close()
      await bus.close()
    }
    assert.deepEqual(faults, [])
  }

  async function next(receiver: ServiceBusReceiver, withinMs = 3_000): Promise<ServiceBusReceivedMessage> {
    const [message] = await receiver.receiveMessages(1, { maxWaitTimeInMs: withinMs })
    assert.ok(message, `no message within ${withinMs} ms`)
    return message
  }

  async function takeAll(receiver: ServiceBusReceiver, count: number): Promise<unknown[]> {
    const bodies: unknown[] = []
    while (bodies.length < count) {
      const message = await next(receiver)
      await receiver.completeMessage(message)
      bodies.push(message.body)
    }
    return bodies
  }

  const inOneHour = (): Date => new Date(Date.now() + HOUR_MS)

  describe('the local broker across a restart', () => {
    it('keeps active, scheduled and dead-lettered messages, and continues its sequence numbers', async () => {
      const file = newFile()
      let lastNumber = 0
      await onBus({ file }, async (bus, client) => {
        const sender = client.createSender('jobs')
        await sender.sendMessages([
          { body: 'bad' },
          { body: 'one' },
          { body: { deep: [1, null] }, applicationProperties: { attempt: 3 } },
        ])
        await sender.scheduleMessages({ body: 'later' }, inOneHour())
        const receiver = client.createReceiver('jobs')
        await receiver.deadLetterMessage(await next(receiver), {
          deadLetterReason: 'Bad',
          deadLetterErrorDescription: 'very',
        })
        lastNumber = Number((await receiver.peekMessages(10)).at(-1)?.sequenceNumber)
        assert.deepEqual(bus.counts('jobs'), { active: 2, scheduled: 1, deadLettered: 1, locked: 0 })
      })
      await onBus({ file }, async (bus, client) => {
        assert.deepEqual(bus.counts('jobs'), { active: 2, scheduled: 1, deadLettered: 1, locked: 0 })
        const receiver = client.createReceiver('jobs')
        assert.deepEqual(await takeAll(receiver, 2), ['one', { deep: [1, null] }])
        bus.advance(HOUR_MS)
        const later = await next(receiver)
        assert.equal(later.body, 'later')
        assert.ok(Number(later.sequenceNumber) > lastNumber)
        const dead = await next(client.createReceiver('jobs', { subQueueType: 'deadLetter' }))
        assert.deepEqual([dead.body, dead.deadLetterReason, dead.deadLetterSource], ['bad', 'Bad', 'jobs'])
      })
    })

    it('returns a locked message to its queue, as after an expired lock', async () => {
      const [file, copy] = [newFile(), newFile()]
      await onBus({ file }, async (bus, client) => {
        await client.createSender('jobs').sendMessages([{ body: 'held' }, { body: 'free' }])
        await client.createSender('twice').sendMessages({ body: 'bad' })
        const twice = client.createReceiver('twice')
        await twice.abandonMessage(await next(twice))
        await next(twice)
        await next(client.createReceiver('jobs'))
        assert.deepEqual(bus.counts('jobs'), { active: 1, scheduled: 0, deadLettered: 0, locked: 1 })
        // The files as after a kill of the process.
        for (const part of ['', '-wal']) await cp(`${file}${part}`, `${copy}${part}`)
      })
      await onBus({ file: copy }, async (bus, client) => {
        assert.deepEqual(bus.counts('jobs'), { active: 2, scheduled: 0, deadLettered: 0, locked: 0 })
        assert.deepEqual(bus.counts('twice'), { active: 0, scheduled: 0, deadLettered: 1, locked: 0 })
        const messages = await client.createReceiver('jobs').receiveMessages(2)
        assert.deepEqual(
          messages.map(({ body, deliveryCount }) => [body, deliveryCount]),
          [
            ['held', 1],
            ['free', 0],
          ],
        )
      })
    })

    it('stores accepted messages on disk, and removes completed ones', async () => {
      const [file, copy] = [newFile(), newFile()]
      await onBus({ file }, async (_, client) => {
        const sender = client.createSender('jobs')
        await Promise.all(Array.from({ length: 50 }, (_, body) => sender.sendMessages({ body })))
        await takeAll(client.createReceiver('jobs'), 20)
        for (const part of ['', '-wal']) await cp(`${file}${part}`, `${copy}${part}`)
      })
      await onBus({ file: copy }, async (_, client) => {
        const bodies = await takeAll(client.createReceiver('jobs'), 30)
        assert.deepEqual(
          bodies,
          Array.from({ length: 30 }, (_, n) => n + 20),
        )
      })
    })

    it('does not start with a damaged file, and reports it', async () => {
      const noDatabase = newFile()
      await writeFile(noDatabase, 'this is not a database, it is a letter to a friend '.repeat(100))
      const scratched = newFile()
      await onBus({ file: scratched }, async (_, client) => {
        await client.createSender('jobs').sendMessages(Array.from({ length: 100 }, () => ({ body: 'x'.repeat(2_000) })))
      })
      const bytes = await readFile(scratched)
      await writeFile(scratched, bytes.fill(0xa5, 8_192, 40_000))
      for (const file of [noDatabase, scratched]) {
        await assert.rejects(startServiceBus({ port: 0, file, queues: QUEUES }), ({ message }: Error) =>
          message.includes(file),
        )
      }
    })

    it('does not start with a file or port in use', async () => {
      const file = newFile()
      await onBus({ file }, async (bus) => {
        await assert.rejects(startServiceBus({ port: 0, file, queues: QUEUES }), /in use by another process/)
        const port = Number(/:(\d+);/.exec(bus.connectionString)?.[1])
        await assert.rejects(
          startServiceBus({ port, file: ':memory:', queues: QUEUES }),
          new RegExp(`port ${port} .*another program`),
        )
        assert.match(bus.connectionString, /127\.0\.0\.1/)
      })
      await onBus({ file }, async (bus) => assert.deepEqual(bus.sent(), {}))
    })
  })

  describe('the clock of the local broker', () => {
    it('delivers messages scheduled within the next hour if an hour passes', async () => {
      await onBus({}, async (bus, client) => {
        const sender = client.createSender('jobs')
        await sender.scheduleMessages([{ body: 'first' }, { body: 'second' }], inOneHour())
        await sender.sendMessages({ body: 'far', scheduledEnqueueTimeUtc: new Date(Date.now() + 3 * HOUR_MS) })
        const receiver = client.createReceiver('jobs')
        const waiting = next(receiver)
        bus.advance(HOUR_MS)
        const first = await waiting
        await receiver.completeMessage(first)
        assert.deepEqual([first.body, ...(await takeAll(receiver, 1))], ['first', 'second'])
        assert.deepEqual(bus.counts('jobs'), { active: 0, scheduled: 1, deadLettered: 0, locked: 0 })
      })
    })

    it('expires locks and lifetimes, but not those of later messages', async () => {
      await onBus({}, async (bus, client) => {
        const sender = client.createSender('jobs')
        await sender.sendMessages({ body: 'slow' })
        await client.createSender('expiring').sendMessages({ body: 'old' })
        const receiver = client.createReceiver('jobs', { maxAutoLockRenewalDurationInMs: 0 })
        const lost = await next(receiver)
        bus.advance(301_000)
        await assert.rejects(receiver.completeMessage(lost), { code: 'MessageLockLost' })
        const again = await next(receiver)
        assert.deepEqual([again.body, again.deliveryCount], ['slow', 1])
        await receiver.completeMessage(again)
        assert.deepEqual(bus.counts('expiring'), { active: 0, scheduled: 0, deadLettered: 1, locked: 0 })
        await sender.sendMessages({ body: 'new', scheduledEnqueueTimeUtc: new Date(Date.now() + 60_000) })
        assert.equal(bus.counts('jobs').scheduled, 1)
      })
    })

    it('keeps the passed time over a restart', async () => {
      const file = newFile()
      await onBus({ file }, async (bus, client) => {
        await client.createSender('jobs').scheduleMessages({ body: 'later' }, inOneHour())
        bus.advance(HOUR_MS - 60_000)
        assert.equal(bus.counts('jobs').scheduled, 1)
      })
      await onBus({ file }, async (bus) => {
        assert.equal(bus.counts('jobs').scheduled, 1)
        bus.advance(60_000)
        assert.equal(bus.counts('jobs').active, 1)
      })
    })

    it('can be the clock of a test', async () => {
      let nowMs = Date.parse('2030-01-01T00:00:00Z')
      await onBus({ nowMs: () => nowMs }, async (bus, client) => {
        const at = new Date('2030-01-01T01:00:00Z')
        await client.createSender('jobs').sendMessages({ body: 'at one', scheduledEnqueueTimeUtc: at })
        assert.equal(bus.counts('jobs').scheduled, 1)
        nowMs = Date.parse('2030-01-01T01:00:00Z')
        bus.advance(0)
        assert.deepEqual((await next(client.createReceiver('jobs'))).enqueuedTimeUtc, at)
      })
    })
  })

  describe('the access tokens of the local broker', () => {
    const sendWith = async (connectionString: string): Promise<void> => {
      const client = new ServiceBusClient(connectionString, ONE_TRY)
      try {
        await client.createSender('jobs').sendMessages({ body: 'x' })
      } finally {
        await client.close()
      }
    }

    it('are refused with another key or another name of the key', async () => {
      await onBus({}, async (bus) => {
        await sendWith(bus.connectionString)
        for (const [part, other] of [
          ['SharedAccessKey=local', 'SharedAccessKey=other'],
          ['SharedAccessKeyName=local', 'SharedAccessKeyName=other'],
        ] as const) {
          const wrong = sendWith(bus.connectionString.replace(part, other))
          await assert.rejects(wrong, { code: 'UnauthorizedAccess', message: /invalid signature/ }, other)
        }
        assert.deepEqual(bus.counts('jobs'), { active: 1, scheduled: 0, deadLettered: 0, locked: 0 })
      })
    })

    it('are valid until their end', async () => {
      const signed = (path: string, endS: number, at: string): string => {
        const resource = encodeURIComponent(`${at}${path}`)
        const signature = createHmac('sha256', 'local').update(`${resource}\n${endS}`).digest('base64')
        return `SharedAccessSignature sr=${resource}&sig=${encodeURIComponent(signature)}&se=${endS}&skn=local`
      }
      await onBus({}, async (bus) => {
        const at = /sb:[^;]+/.exec(bus.connectionString)?.[0] ?? ''
        const withToken = (token: string) => `Endpoint=${at};SharedAccessSignature=${token};UseDevelopmentEmulator=true`
        const endS = 4_000_000_000
        await sendWith(withToken(signed('/jobs', endS, at)))
        await sendWith(withToken(signed('/', endS, at)))
        await assert.rejects(sendWith(withToken(signed('/jobs', 1_000, at))), /expired/)
      })
    })

    it('are required before a link', async () => {
      await onBus({}, async (bus) => {
        const port = Number(/:(\d+);/.exec(bus.connectionString)?.[1])
        for (const open of ['open_sender', 'open_receiver'] as const) {
          const connection = rhea.create_container().connect({ port, host: '127.0.0.1', reconnect: false })
          const link = connection[open]('jobs')
          const [{ condition }] = await once(link, open === 'open_sender' ? 'sender_error' : 'receiver_error').then(
            () => [link.error as { condition: string }] as const,
          )
          assert.equal(condition, 'amqp:unauthorized-access')
          connection.close()
        }
      })
    })
  })

  describe('the faults of the local broker', () => {
    it('drops connections, and clients reconnect', async () => {
      await onBus({}, async (bus) => {
        const client = new ServiceBusClient(bus.connectionString, {
          retryOptions: { maxRetries: 5, retryDelayInMs: 50 },
        })
        const sender = client.createSender('jobs')
        await sender.sendMessages({ body: 'before' })
        bus.faults.dropConnections()
        await sleep(200)
        await sender.sendMessages({ body: 'after' })
        assert.deepEqual(await takeAll(client.createReceiver('jobs'), 2), ['before', 'after'])
        await client.close()
      })
    })

    it('rejects the next send, single, as an array or scheduled, without storing messages', async () => {
      await onBus({}, async (bus, client) => {
        const sender = client.createSender('jobs')
        const sends = [
          () => sender.sendMessages({ body: 1 }),
          () => sender.sendMessages([{ body: 1 }, { body: 2 }]),
          () => sender.scheduleMessages({ body: 1 }, inOneHour()),
        ]
        for (const send of sends) {
          bus.faults.rejectNextSend('jobs')
          await assert.rejects(send)
          assert.deepEqual(bus.counts('jobs'), { active: 0, scheduled: 0, deadLettered: 0, locked: 0 })
        }
        bus.faults.rejectNextSend('jobs', 'com.microsoft:entity-disabled')
        await assert.rejects(sender.sendMessages({ body: 1 }), { code: 'MessagingEntityDisabled' })
        await sender.sendMessages({ body: 1 })
        assert.deepEqual(bus.sent(), { jobs: 1 })
      })
    })

    it('loses a message and duplicates another, of the specified queue only', async () => {
      await onBus({}, async (bus, client) => {
        const sender = client.createSender('jobs')
        bus.faults.loseNextMessage('JOBS')
        bus.faults.deliverNextMessageTwice('jobs')
        await client.createSender('twice').sendMessages({ body: 'elsewhere' })
        await sender.sendMessages([{ body: 'lost' }, { body: 'doubled', messageId: 'd' }, { body: 'plain' }])
        assert.deepEqual(await takeAll(client.createReceiver('jobs'), 3), ['doubled', 'doubled', 'plain'])
        assert.deepEqual(bus.sent(), { twice: 1, jobs: 3 })
        assert.equal(bus.counts('twice').active, 1)
      })
    })

    it('refuses faults for an unknown queue', async () => {
      await onBus({}, async (bus) => {
        assert.throws(() => bus.faults.loseNextMessage('none'), /'none' could not be found/)
        assert.throws(() => bus.counts('none'), /'none' could not be found/)
      })
    })
  })

  describe('the local broker and its clients', () => {
    it('refuses sessions, topics, deferring and sending to dead-letter queues', async () => {
      await onBus({}, async (_, client) => {
        await assert.rejects(client.acceptSession('jobs', 's1'))
        await assert.rejects(client.acceptNextSession('jobs'), /Sessions are not supported/)
        await assert.rejects(next(client.createReceiver('topic', 'subscription')), /Only queues/)
        await assert.rejects(client.createSender('jobs/$DeadLetterQueue').sendMessages({ body: 1 }), /cannot be sent/)
        await client.createSender('jobs').sendMessages({ body: 1 })
        const receiver = client.createReceiver('jobs')
        await assert.rejects(receiver.deferMessage(await next(receiver)), /Deferred messages are not supported/)
        await assert.rejects(next(client.createReceiver('none')), { code: 'MessagingEntityNotFound' })
      })
    })

    it('accepts queue names in any case', async () => {
      await onBus({}, async (_, client) => {
        await client.createSender('Jobs').sendMessages({ body: 'found' })
        assert.deepEqual(await takeAll(client.createReceiver('JOBS'), 1), ['found'])
      })
    })

    it('continues after bytes that are not AMQP', async () => {
      const faults: unknown[] = []
      await onBus({ onFault: (fault) => faults.push(fault) }, async (bus, client) => {
        const port = Number(/:(\d+);/.exec(bus.connectionString)?.[1])
        for (const noise of [
          'GET / HTTP/1.1\r\n\r\n',
          'AMQP\u0000\u0001\u0000\u0000\u0000\u0000\u0000\u0009\u0002\u0000\u0000\u0000\u0007',
        ]) {
          const socket = connect(port, '127.0.0.1').on('error', () => {})
          await new Promise((resolve) => socket.on('close', resolve).resume().end(noise))
        }
        await client.createSender('jobs').sendMessages({ body: 'still here' })
        assert.equal(bus.counts('jobs').active, 1)
      })
      assert.ok(faults.length > 0)
    })

    it('does not keep the process alive after it is closed', async () => {
      const broker = new URL('../../infra/local/service-bus/broker.ts', import.meta.url)
      const program = `
      import { ServiceBusClient } from '@azure/service-bus'
      import { startServiceBus } from '${broker}'
      const bus = await startServiceBus({ port: 0, file: ':memory:', queues: ${JSON.stringify(QUEUES)} })
      const client = new ServiceBusClient(bus.connectionString)
      await client.createSender('jobs').sendMessages([{ body: 1 }, { body: 2, scheduledEnqueueTimeUtc: new Date(Date.now() + 60_000) }])
      await client.createReceiver('jobs').receiveMessages(1)
      await client.close()
      await bus.close()`
      const child = spawn(process.execPath, ['--input-type=module-typescript', '-e', program], { stdio: 'inherit' })
      const timer = setTimeout(() => child.kill(), 10_000)
      const exit = await new Promise((resolve) => child.on('exit', (code, signal) => resolve(signal ?? code)))
      clearTimeout(timer)
      assert.equal(exit, 0)
    })
  })
})
