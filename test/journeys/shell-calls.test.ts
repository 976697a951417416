import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { sharedEnvironment } from '../support/journeys/shared-environment.ts'
import type { StartedEnvironment } from '../support/journeys/started-environment.ts'

const run = promisify(execFile)
const SCRIPT = 'infra/local/demo/call-api.sh'
const hasShell = ['bash', 'curl'].every((command) => spawnSync(command, ['--version']).status === 0)

describe('the calls from a shell', { skip: hasShell ? false : 'bash or curl is missing' }, () => {
  let environment: StartedEnvironment
  before(async () => {
    environment = await sharedEnvironment(60)
  })

  it('create a collection and a link, and show the sync job of the link', async () => {
    const { directoryUrl, caFile } = environment
    // Company machines trust their own authorities in all programs.
    const others = { NODE_EXTRA_CA_CERTS: '/authorities-of-others.pem' }
    const env = { ...process.env, ...others, DIRECTORY_URL: directoryUrl, CA_FILE: caFile }
    const { stdout } = await run('bash', [SCRIPT], { env })
    const [created, preview, , jobs] = [...stdout.matchAll(/^\{.*\}$/gm)].map(([text]) => JSON.parse(text))
    assert.equal(created.data.name, 'Nurses')
    assert.ok(preview.data.membersToAdd.length > 0, stdout)
    assert.equal(jobs.data[0].status, 'Succeeded')
    assert.equal(jobs.data[0].added, preview.data.membersToAdd.length)
  })
})
