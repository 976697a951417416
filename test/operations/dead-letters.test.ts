import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { ServiceBusClient, type ServiceBusMessage } from '@azure/service-bus'
import { type LocalServiceBus, startServiceBus } from '../../infra/local/service-bus/broker.ts'
import { readDeadLetterOptions } from '../../infra/operations/dead-letter-options.ts'
import { deadLettersOf, replayDeadLetters } from '../../infra/operations/dead-letter-queue.ts'

const COMMAND = join(import.meta.dirname, '../../infra/operations/dead-letters.ts')

const QUEUES = [
  'audits',
  'deadlines',
  'evaluations',
  'event-deliveries',
  'mails',
  'events',
  'membership-changes',
  'sweeps',
  'sync-jobs',
].map((name) => ({
  name,
  lockDurationS: 300,
  maxDeliveryCount: 1,
}))

let bus: LocalServiceBus
let client: ServiceBusClient

beforeEach(async () => {
  bus = await startServiceBus({ port: 0, file: ':memory:', queues: QUEUES })
  client = new ServiceBusClient(bus.connectionString)
})

afterEach(async () => {
  await client.close()
  await bus.close()
})

/** Sends messages and delivers each until it is dead-lettered. */
async function deadLetter(queue: string, messages: ServiceBusMessage[]): Promise<void> {
  await client.createSender(queue).sendMessages(messages)
  const receiver = client.createReceiver(queue)
  for (let deadCount = 0; deadCount < messages.length; ) {
    const received = await receiver.receiveMessages(messages.length - deadCount, { maxWaitTimeInMs: 2_000 })
    for (const message of received) await receiver.abandonMessage(message)
    deadCount += received.length
  }
  await receiver.close()
}

const job = (id: string): ServiceBusMessage => ({
  body: { tenantId: 'tenant', jobId: id },
  messageId: id,
  contentType: 'application/json',
  applicationProperties: { traceparent: `trace-of-${id}` },
})

async function run(words: readonly string[], environment: Record<string, string> = {}) {
  const options = { env: { ServiceBus: bus.connectionString, ...environment }, encoding: 'utf8' as const }
  const promise = promisify(execFile)(process.execPath, [COMMAND, ...words], options)
  const { stdout, stderr } = await promise.catch((failure) => failure as { stdout: string; stderr: string })
  return { code: promise.child.exitCode, stdout, stderr }
}

describe('dead letters', () => {
  it('are listed with queue, id, time, reason and deliveries, and are not changed', async () => {
    await deadLetter('sync-jobs', [job('one'), job('two')])
    const letters = await deadLettersOf(client, 'sync-jobs')
    assert.deepEqual(
      letters.map(({ queue, messageId, reason, deliveryCount }) => [queue, messageId, reason, deliveryCount]),
      [
        ['sync-jobs', 'one', 'MaxDeliveryCountExceeded', 1],
        ['sync-jobs', 'two', 'MaxDeliveryCountExceeded', 1],
      ],
    )
    for (const { enqueuedAt } of letters) assert.ok(Math.abs(Date.parse(enqueuedAt) - Date.now()) < 60_000)
    assert.equal(bus.counts('sync-jobs').deadLettered, 2)
  })

  it('are listed completely, over several pages', async () => {
    await deadLetter(
      'sweeps',
      Array.from({ length: 250 }, (_, index) => job(`number-${index}`)),
    )
    assert.equal((await deadLettersOf(client, 'sweeps')).length, 250)
  })

  it('are replayed without their failures, so that they can fail as often as new ones', async () => {
    const properties = { traceparent: 'trace-of-one', failures: 9 }
    await deadLetter('sync-jobs', [{ ...job('one'), applicationProperties: properties }])
    await replayDeadLetters(client, 'sync-jobs', await deadLettersOf(client, 'sync-jobs'))
    const [message] = await client.createReceiver('sync-jobs').receiveMessages(1)
    assert.deepEqual(message?.applicationProperties, { traceparent: 'trace-of-one' })
  })

  it('are replayed with the same content and properties under another id, and then completed', async () => {
    await deadLetter('sync-jobs', [job('one')])
    assert.equal(await replayDeadLetters(client, 'sync-jobs', await deadLettersOf(client, 'sync-jobs')), 1)
    assert.deepEqual(bus.counts('sync-jobs'), { active: 1, scheduled: 0, deadLettered: 0, locked: 0 })
    const [message] = await client.createReceiver('sync-jobs').receiveMessages(1)
    assert.deepEqual(message?.body, { tenantId: 'tenant', jobId: 'one' })
    assert.equal(message?.contentType, 'application/json')
    assert.deepEqual(message?.applicationProperties, { traceparent: 'trace-of-one' })
    assert.match(String(message?.messageId), /^one:replayed:\d+$/)
  })

  it('can be replayed repeatedly, with ids of constant length', async () => {
    await deadLetter('sync-jobs', [job('one')])
    const ids = new Set<string>()
    for (const _ of [1, 2, 3]) {
      await replayDeadLetters(client, 'sync-jobs', await deadLettersOf(client, 'sync-jobs'))
      const receiver = client.createReceiver('sync-jobs')
      const [message] = await receiver.receiveMessages(1)
      assert.ok(message)
      ids.add(String(message.messageId))
      await receiver.abandonMessage(message)
      await receiver.close()
    }
    assert.equal(ids.size, 3)
    for (const id of ids) assert.match(id, /^one:replayed:\d+$/)
  })

  it('are completed only after they are sent: they stay if the queue refuses them', async () => {
    await deadLetter('sync-jobs', [job('one')])
    const letters = await deadLettersOf(client, 'sync-jobs')
    bus.faults.rejectNextSend('sync-jobs')
    await assert.rejects(replayDeadLetters(client, 'sync-jobs', letters))
    assert.deepEqual(bus.counts('sync-jobs'), { active: 0, scheduled: 0, deadLettered: 1, locked: 0 })
  })
})

describe('the command', () => {
  it('lists every queue, without the content of messages', async () => {
    await deadLetter('sync-jobs', [{ ...job('one'), body: { tenantId: 'confidential' } }])
    await deadLetter('evaluations', [job('two')])
    const { code, stdout } = await run(['list'])
    assert.equal(code, 0)
    assert.match(stdout, /^evaluations {2}two {2}\S+Z {2}1 deliveries {2}MaxDeliveryCountExceeded.*\nsync-jobs {2}one /)
    assert.doesNotMatch(stdout, /confidential|SharedAccessKey/)
  })

  it('replays one message of one queue and no others', async () => {
    await deadLetter('sync-jobs', [job('one'), job('two'), job('three')])
    const dry = await run(['replay', '--queue', 'sync-jobs', '--message', 'two', '--dry-run'])
    assert.match(dry.stdout, /^sync-jobs {2}two [^\n]+\n$/)
    assert.equal(bus.counts('sync-jobs').deadLettered, 3)
    const { code, stdout } = await run(['replay', '--queue', 'sync-jobs', '--message', 'two'])
    assert.equal(code, 0)
    assert.match(stdout, /sync-jobs: 1 of 1 replayed\n$/)
    assert.deepEqual(bus.counts('sync-jobs'), { active: 1, scheduled: 0, deadLettered: 2, locked: 0 })
  })

  it('reports that there are no dead letters, and fails if the specified message is not found', async () => {
    const all = await run(['list'])
    assert.deepEqual([all.code, all.stdout], [0, 'No dead letters\n'])
    const one = await run(['replay', '--message', 'nobody'])
    assert.deepEqual([one.code, one.stdout], [1, 'No dead letters\n'])
  })

  it('reads the namespace from a settings file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'dead-letters-'))
    const file = join(folder, 'local.settings.json')
    writeFileSync(file, JSON.stringify({ Values: { ServiceBus: bus.connectionString } }))
    const { code, stdout } = await run(['list', '--settings', file], { ServiceBus: '' })
    assert.deepEqual([code, stdout], [0, 'No dead letters\n'])
    rmSync(folder, { recursive: true })
  })

  it('reports an error in one line', async () => {
    for (const [words, expected] of [
      [[], /^dead-letters: Specify list or replay/],
      [['list', '--queue', 'nobody'], /^dead-letters: Unknown queue nobody\. Use one of audits, /],
      [['list', '--settings', '/nowhere.json'], /^dead-letters: \/nowhere.json is not a valid settings file/],
    ] as const) {
      const { code, stderr } = await run(words, { ServiceBus: '' })
      assert.equal(code, 2)
      assert.match(stderr, expected)
      assert.equal(stderr.split('\n').length, 2)
    }
    assert.equal(readDeadLetterOptions(['--help']), 'help')
  })
})
