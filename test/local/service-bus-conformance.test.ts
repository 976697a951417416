import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { promisify } from 'node:util'
import { type LocalQueue, startServiceBus } from '../../infra/local/service-bus/broker.ts'

const run = promisify(execFile)
/** The folder of the conformance programs, which use the Service Bus client. */
const checks = process.env.CONFORMANCE_CHECKS
const skip = checks === undefined ? 'CONFORMANCE_CHECKS does not name the folder with service-bus.mjs' : false
const PROGRAM_TIMEOUT_MS = 180_000

/** A queue that the program requires. */
type WantedQueue = {
  name: string
  lockDurationMs: number
  maxDeliveryCount: number
  deadLetterOnExpiration: boolean
  requiresSession: boolean
}

const localQueue = (wanted: WantedQueue): LocalQueue => ({
  name: wanted.name,
  lockDurationS: wanted.lockDurationMs / 1_000,
  maxDeliveryCount: wanted.maxDeliveryCount,
  deadLetterOnExpiration: wanted.deadLetterOnExpiration,
})

describe('the local broker, seen by the conformance program', () => {
  it('passes every required check', { skip }, async () => {
    const program = join(checks ?? '', 'service-bus.mjs')
    const { stdout: wanted } = await run(process.execPath, [program, '--queues'])
    const queues = (JSON.parse(wanted) as WantedQueue[]).filter(({ requiresSession }) => !requiresSession)
    const faults: unknown[] = []
    const bus = await startServiceBus({
      port: 0,
      file: ':memory:',
      queues: queues.map(localQueue),
      onFault: (fault) => faults.push(fault),
    })
    try {
      const { code, report } = await exitOf(program, bus.connectionString)
      assert.equal(code, 0, report)
      assert.match(report, /\b[1-9]\d* passed, 0 failed/)
      assert.deepEqual(faults, [])
    } finally {
      await bus.close()
    }
  })
})

async function exitOf(program: string, connectionString: string): Promise<{ code: number; report: string }> {
  const child = run(process.execPath, [program, connectionString], { timeout: PROGRAM_TIMEOUT_MS })
  try {
    const { stdout, stderr } = await child
    return { code: 0, report: stdout + stderr }
  } catch (failure) {
    const { code, stdout, stderr } = failure as { code?: number | string; stdout?: string; stderr?: string }
    return { code: Number(code ?? -1), report: `${stdout ?? ''}${stderr ?? ''}${String(failure)}` }
  }
}
