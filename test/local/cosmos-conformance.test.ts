import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { it } from 'node:test'
import { KEY, openAccount } from '../support/local/cosmos-account.ts'

/** A folder with cosmos.mjs: checks of a Cosmos DB endpoint, which also run against Azure. */
const folder = process.env.CONFORMANCE_CHECKS
const skip = folder === undefined ? 'CONFORMANCE_CHECKS does not name the folder with cosmos.mjs' : false

it('The local database passes the conformance checks through the unmodified client', { skip }, async (t) => {
  const { cosmos } = await openAccount(t, { strict: false })
  const checks = spawn(process.execPath, [join(folder ?? '', 'cosmos.mjs'), cosmos.endpoint, '--key', KEY])
  let output = ''
  checks.stdout.on('data', (chunk) => (output += chunk))
  checks.stderr.on('data', (chunk) => (output += chunk))
  const [exitCode] = await once(checks, 'close')
  assert.equal(exitCode, 0, output)
})
