import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { progressOn } from '../../infra/import/terminal.ts'
import { outcomeOf, startedCommand } from '../support/journeys/command.ts'
import { applicationToken, asApplication } from '../support/journeys/demo-clients.ts'
import { newDataFolder, type StartedEnvironment, startedEnvironment } from '../support/journeys/started-environment.ts'

const SCRIPT = join(import.meta.dirname, '../../infra/import/import.ts')
const CONNECTORS = '/iamcore/beta/sync/connectors'
const PEOPLE_COUNT = 4500

let environment: StartedEnvironment
before(async () => {
  environment = await startedEnvironment(newDataFolder(), { DEMO_IDENTITIES: '0' })
})
after(() => environment.stop())

describe('an import that is killed', () => {
  it('continues when it is started again', async () => {
    const operator = await asApplication(environment, 'operator')
    const clientId = environment.demo.tenants[0]?.apps.find(({ name }) => name === 'connector')?.clientId
    const connectorId = (await operator<string>('POST', CONNECTORS, { name: 'Import', clientId })).json.data
    const token = await applicationToken(environment, 'connector', environment.demo.scope)
    const file = join(newDataFolder(), 'identities.csv')
    const people = Array.from({ length: PEOPLE_COUNT }, (_, index) => `p${index},Person ${index}`)
    writeFileSync(file, ['externalId,displayName', ...people].join('\n'))
    const start = (apiUrl: string) =>
      startedCommand(SCRIPT, [file, '--connector', connectorId], { API_URL: apiUrl, TOKEN: token })
    const stuck = await apiThatStopsAfter(1)
    const first = start(stuck.url)
    await stuck.hasStopped
    first.kill('SIGKILL')
    await once(first, 'close')
    stuck.close()

    const { code, out } = await outcomeOf(start(environment.apiUrl))
    assert.equal(code, 0, out)
    assert.match(out, /^Plan: 3500 to create, 0 to update, 0 to delete, 1000 unchanged$/m)
    assert.match(out, /^Done: 3500 written, 1000 unchanged, 0 failed$/m)
  })
})

/** A proxy of the API that stops responding after this many batches. */
async function apiThatStopsAfter(batchesCount: number) {
  const stopped = Promise.withResolvers<void>()
  let count = 0
  const server = createServer(async (request, response) => {
    const { method = 'GET', url = '', headers } = request
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    if (method === 'POST') count += 1
    if (count > batchesCount) return
    const answer = await fetch(environment.apiUrl + url, {
      method,
      headers: { authorization: headers.authorization ?? '', 'content-type': 'application/json' },
      ...(method === 'GET' ? {} : { body: Buffer.concat(chunks) }),
    })
    response.writeHead(answer.status).end(await answer.text())
    if (method === 'POST') stopped.resolve()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = () => {
    server.close()
    server.closeAllConnections()
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, hasStopped: stopped.promise, close }
}

describe('the progress of an import', () => {
  const shownOn = (screen: { isTTY: boolean; columns?: number }, instantsMs: readonly number[]) => {
    let [text, nowMs] = ['', 0]
    const progress = progressOn({ ...screen, write: (more: string) => (text += more) }, () => nowMs)
    for (const instantMs of instantsMs) {
      nowMs = instantMs
      progress.show('Sending', instantMs / 100, 100)
    }
    progress.end()
    return text
  }

  it('is one line with a bar and the remaining time on a terminal, redrawn at most ten times per second', () => {
    const lines = shownOn({ isTTY: true, columns: 200 }, [10, 2500, 2510, 5000]).split('\r\u001b[2K')
    assert.deepEqual(lines, [
      '',
      'Sending [#######-----------------------] 25 % 25/100 10/s, 8 s left',
      'Sending [###############---------------] 50 % 50/100 10/s, 5 s left\n',
    ])
  })

  it('fits the width of the terminal', () => {
    assert.ok(
      shownOn({ isTTY: true, columns: 20 }, [5000])
        .split('\r\u001b[2K')
        .every((line) => line.trimEnd().length < 20),
    )
  })

  it('is a line every few seconds in a log, and always the last state', () => {
    assert.deepEqual(shownOn({ isTTY: false }, [2500, 6000, 7000, 10_000]).trimEnd().split('\n'), [
      'Sending [##################------------] 60 % 60/100 10/s, 4 s left',
      'Sending [##############################] 100 % 100/100',
    ])
  })
})
