import { statSync } from 'node:fs'
import { join } from 'node:path'
import { findChromium } from '../local/headless-browser.ts'
import { openConsoleWorld } from './console-browser.ts'

/*
 * `node test/support/console/screenshot.ts`: starts the service and writes the picture of the console in README: a condition that is being
 * edited, beside the people whom it matches.
 */

const FILE = join(import.meta.dirname, '../../../infra/console.png')
const LARGEST_BYTES = 200_000

const leaf = (id: string, operator: string, value: unknown) => ({ id, field: id, operator, value })
const CONDITION = {
  groupOperator: 'AND',
  conditions: [
    leaf('relationshipTitle', 'Contains', 'Teacher'),
    {
      groupOperator: 'OR',
      conditions: [
        leaf('orgUnitDisplayName', 'Contains', 'School'),
        leaf('relationshipStartDate', 'LessThan', 'AddDays(Today(),-365)'),
      ],
    },
  ],
}

async function takeScreenshot(): Promise<void> {
  const chromium = findChromium()
  if (chromium === undefined) throw new Error('There is no Chromium on this machine')
  const world = await openConsoleWorld(chromium, {})
  try {
    const body = { objectType: 'Relationship', name: 'Teachers at schools', condition: CONDITION }
    const id = await world.call<string>('admin', 'POST', '/collections-criteria/beta', body)
    const page = await world.openAs('admin', `/collections/${id}/edit`, { viewport: { width: 1280, height: 1000 } })
    await page.getByText('match now').waitFor()
    await page.screenshot({ path: FILE })
  } finally {
    await world.close()
  }
  const sizeBytes = statSync(FILE).size
  if (sizeBytes > LARGEST_BYTES) throw new Error(`${FILE} has ${sizeBytes} bytes, more than ${LARGEST_BYTES}`)
  process.stdout.write(`${FILE}: ${sizeBytes} bytes\n`)
}

takeScreenshot().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
