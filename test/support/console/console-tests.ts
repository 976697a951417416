import { after, before, describe } from 'node:test'
import { findChromium } from '../local/headless-browser.ts'
import { type ConsoleFixture, openConsoleFixture } from './console-browser.ts'

const chromium = findChromium()
const missing = 'SKIPPED: there is no Chromium on this machine, so the console was not opened'
if (chromium === undefined) process.stderr.write(`\n${missing}\n\n`)

/** Journeys that share one environment and one browser, and run beside each other: they mostly wait. */
export function consoleTests(name: string, journeys: readonly ((fixture: () => ConsoleFixture) => void)[]): void {
  describe(name, { skip: chromium === undefined ? missing : false, concurrency: 3 }, () => {
    let opened: ConsoleFixture | undefined
    before(async () => {
      opened = await openConsoleFixture(chromium ?? '')
    })
    after(() => opened?.close())
    const fixture = (): ConsoleFixture => {
      if (opened === undefined) throw new Error('The environment is not started')
      return opened
    }
    for (const some of journeys) some(fixture)
  })
}
