import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { OPEN } from '../support/api/joinable-fixture.ts'
import { eventFixture } from '../support/events/event-fixture.ts'

const GUIDE = new URL('../../infra/operations/README.md', import.meta.url)
const folder = mkdtempSync(join(tmpdir(), 'receiver-'))
const children: ChildProcess[] = []
after(() => {
  for (const child of children) child.kill()
  rmSync(folder, { recursive: true })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  const { port } = server.address() as AddressInfo
  await new Promise((closed) => server.close(closed))
  return port
}

/** Starts the receiver as the guide has it, with the clock of the test. */
async function startReceiver(port: number, secret: string, nowMs: number): Promise<() => string> {
  const guide = readFileSync(GUIDE, 'utf8')
  const [, code = ''] = /```js\n([\s\S]*?)```/.exec(guide) ?? []
  assert.ok(code.split('\n').length <= 31, 'The receiver is longer than thirty lines')
  const file = join(folder, `receiver-${port}.mjs`)
  writeFileSync(file, `Date.now = () => ${nowMs}\n${code}`)
  const child = spawn(process.execPath, [file], { env: { PORT: String(port), WEBHOOK_SECRET: secret } })
  children.push(child)
  let output = ''
  child.stdout.on('data', (text) => {
    output += text
  })
  for (let attempts = 0; attempts < 100; attempts += 1) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' }).catch(() => undefined)
    if (answer?.status === 401) return () => output
    await pause(50)
  }
  throw new Error('The receiver does not start')
}

describe('The receiver in the operations guide', () => {
  it('takes what the service has signed, shows an event once, and refuses all else', async () => {
    const fixture = await eventFixture()
    const port = await freePort()
    const { id, secret } = await fixture.subscribe(`http://127.0.0.1:${port}/`, ['collection.*'])
    const output = await startReceiver(port, secret, fixture.nowMs())
    const collectionId = await fixture.joinable(OPEN)
    await fixture.drain()
    const path = `/collections/beta/event-subscriptions/${id}`
    const { data } = await fixture.call<{ eventId: string; state: string }[]>(
      fixture.admin,
      'GET',
      `${path}/deliveries`,
    )
    assert.deepEqual(
      data.map(({ state }) => state),
      ['Delivered'],
    )
    await fixture.call(fixture.admin, 'POST', `${path}/redeliver`, { eventIds: [data[0]?.eventId] })
    await fixture.drain()
    const laterId = await fixture.joinable(OPEN)
    await fixture.drain()
    // What the process has printed arrives after its answer, in order.
    while (!output().includes(laterId)) await pause(10)
    assert.ok(output().includes(collectionId))
    assert.equal(output().split('collection.created').length - 1, 2)
    const otherPort = await freePort()
    const other = await fixture.subscribe(`http://127.0.0.1:${otherPort}/`, ['collection.*'])
    await startReceiver(otherPort, `whsec_${Buffer.alloc(32).toString('base64')}`, fixture.nowMs())
    await fixture.joinable(OPEN)
    await fixture.drain()
    const refused = await fixture.call<{ attempts: { status: number }[] }[]>(
      fixture.admin,
      'GET',
      `/collections/beta/event-subscriptions/${other.id}/deliveries`,
    )
    assert.equal(refused.data[0]?.attempts[0]?.status, 401)
  })
})
