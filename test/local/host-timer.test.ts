import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { parseSchedule } from '../../infra/local/host/ncrontab.ts'
import type { RpcRetryContext, RpcRetryOptions } from '../../infra/local/host/programming-model.ts'
import { type RunningTimer, startTimer, type TimerInfo } from '../../infra/local/host/timer.ts'

type Run = { at: string; info: TimerInfo; retryContext: RpcRetryContext | undefined }

let runs: Run[] = []
let failures: unknown[] = []
/** Actions of the next runs. Later runs end immediately. */
let outcomes: (() => Promise<void>)[] = []

function start(schedule: string, retry?: RpcRetryOptions, isDisabled = false): RunningTimer {
  return startTimer({
    schedule: parseSchedule(schedule),
    retry,
    isDisabled,
    nowMs: () => Date.now(),
    async run(info, retryContext) {
      runs.push({ at: new Date(Date.now()).toISOString(), info, retryContext })
      await outcomes.shift()?.()
    },
    failed: (error) => void failures.push(error),
  })
}

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Advances the clock in steps, so that each step can set the next timer. */
async function pass(durationS: number, stepS = 1): Promise<void> {
  for (let passedS = 0; passedS < durationS; passedS += stepS) {
    mock.timers.tick(stepS * 1000)
    await settle()
  }
}

const fail = (message: string) => () => Promise.reject(new Error(message))
const times = (): string[] => runs.map(({ at }) => at.slice(11, 19))

describe('a timer', () => {
  beforeEach(() => {
    runs = []
    failures = []
    outcomes = []
    mock.timers.enable({ apis: ['setTimeout', 'Date'], now: Date.parse('2030-01-01T00:00:30Z') })
  })
  afterEach(() => mock.timers.reset())

  it('runs at each occurrence and reports the last and the next one', async () => {
    const timer = start('0 */2 * * * *')
    await pass(5 * 60)
    await timer.stop()
    assert.deepEqual(times(), ['00:02:00', '00:04:00'])
    assert.deepEqual(runs[1]?.info, {
      Schedule: { AdjustForDST: true },
      ScheduleStatus: {
        Last: '2030-01-01T00:02:00.000Z',
        LastUpdated: '2030-01-01T00:02:00.000Z',
        Next: '2030-01-01T00:06:00.000Z',
      },
      IsPastDue: false,
    })
  })

  it('that is disabled runs by hand only', async () => {
    const timer = start('0 * * * * *', undefined, true)
    await pass(90)
    assert.deepEqual(times(), [])
    await timer.runByHand()
    await pass(90)
    await timer.stop()
    assert.deepEqual(times(), ['00:02:00'])
  })

  it('waits for an occurrence beyond the limit of setTimeout', async () => {
    const timer = start('0 0 0 1 3 *')
    await pass(59 * 86_400, 60)
    await timer.stop()
    assert.deepEqual(
      runs.map(({ at }) => at.slice(0, 10)),
      ['2030-03-01'],
    )
  })

  it('skips occurrences during a run', async () => {
    const gate = Promise.withResolvers<void>()
    outcomes = [() => gate.promise]
    const timer = start('0 * * * * *')
    await pass(3 * 60)
    assert.deepEqual(times(), ['00:01:00'])
    gate.resolve()
    await pass(60)
    await timer.stop()
    assert.deepEqual(times(), ['00:01:00', '00:04:00'])
  })

  it('skips occurrences during a manual run, and runs manually after a run', async () => {
    const gate = Promise.withResolvers<void>()
    outcomes = [() => gate.promise]
    const timer = start('0 * * * * *')
    const first = timer.runByHand()
    const second = timer.runByHand()
    await settle()
    await pass(60)
    assert.deepEqual(times(), ['00:00:30'])
    gate.resolve()
    await Promise.all([first, second])
    assert.deepEqual(times(), ['00:00:30', '00:01:30'])
    await pass(60)
    await timer.stop()
    assert.deepEqual(times(), ['00:00:30', '00:01:30', '00:02:00'])
  })

  it('continues after a failure, which is reported once', async () => {
    outcomes = [fail('once')]
    const timer = start('0 * * * * *')
    await pass(2 * 60)
    await timer.stop()
    assert.deepEqual(times(), ['00:01:00', '00:02:00'])
    assert.deepEqual(failures.map(String), ['Error: once'])
  })

  it('retries after a fixed delay and passes the attempt', async () => {
    outcomes = [fail('first'), fail('second')]
    const timer = start('0 * * * * *', {
      retryStrategy: 'fixedDelay',
      maxRetryCount: 2,
      delayInterval: { seconds: 5 },
    })
    await pass(50)
    await timer.stop()
    assert.deepEqual(times(), ['00:01:00', '00:01:05', '00:01:10'])
    assert.deepEqual(
      runs.map(({ retryContext }) => retryContext?.retryCount),
      [undefined, 1, 2],
    )
    assert.deepEqual(failures, [])
  })

  it('starts no run after a stop, waits for the current run and does not retry', async () => {
    const gate = Promise.withResolvers<void>()
    outcomes = [() => gate.promise]
    const timer = start('0 * * * * *', {
      retryStrategy: 'fixedDelay',
      maxRetryCount: -1,
      delayInterval: { seconds: 1 },
    })
    await pass(30)
    let stopped = false
    const stopping = timer.stop().then(() => {
      stopped = true
    })
    await pass(120)
    assert.equal(stopped, false)
    gate.reject(new Error('last'))
    await stopping
    await pass(120)
    assert.deepEqual(times(), ['00:01:00'])
    assert.deepEqual(failures.map(String), ['Error: last'])
  })
})
