import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, type TestContext } from 'node:test'
import { CosmosClient } from '@azure/cosmos'
import { startCosmosProcess } from '../../infra/local/cosmos/process.ts'

const KEY = Buffer.alloc(64, 7).toString('base64')
const STARTER = join(import.meta.dirname, '../../infra/local/cosmos/process.ts')

function newFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'cosmos-process-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'database')
}

const isRunning = (processId: number): boolean => {
  try {
    return process.kill(processId, 0)
  } catch {
    return false
  }
}

it('runs in a separate process, stores data, and ends when it is closed', async (t) => {
  const options = { port: 0, file: newFile(t), key: KEY, strict: true }
  const first = await startCosmosProcess(options)
  const client = new CosmosClient({ endpoint: first.endpoint, key: first.key })
  await client.databases.create({ id: 'd' })
  client.dispose()
  assert.ok(first.processId > 0 && first.processId !== process.pid)
  await first.close()
  await first.close()
  assert.equal(isRunning(first.processId), false)
  const second = await startCosmosProcess(options)
  t.after(() => second.close())
  const again = new CosmosClient({ endpoint: second.endpoint, key: second.key })
  assert.equal((await again.database('d').read()).statusCode, 200)
  again.dispose()
})

it('rejects with the reason if it cannot start', async (t) => {
  const running = await startCosmosProcess({ port: 0, file: newFile(t), key: KEY, strict: true })
  t.after(() => running.close())
  const port = Number(new URL(running.endpoint).port)
  await assert.rejects(startCosmosProcess({ port, file: newFile(t), key: KEY, strict: true }), {
    message: `Port ${port} is in use`,
  })
})

it('ends with its parent process, also if that is killed, and releases the file', async (t) => {
  const file = newFile(t)
  const options = { port: 0, file, key: KEY, strict: true }
  const script = join(file, '../starter.mjs')
  writeFileSync(
    script,
    `import { startCosmosProcess } from ${JSON.stringify(STARTER)}
    const { processId } = await startCosmosProcess(${JSON.stringify(options)})
    process.stdout.write(String(processId))`,
  )
  const starter = spawn(process.execPath, [script], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [told] = await once(starter.stdout, 'data')
  const processId = Number(String(told))
  assert.ok(isRunning(processId))
  process.kill(processId, 'SIGINT')
  starter.kill('SIGKILL')
  await once(starter, 'close')
  // It starts only with exclusive access to the file.
  const next = await startCosmosProcess(options)
  await next.close()
})
