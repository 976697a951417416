import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { findChromium } from '../local/headless-browser.ts'
import { openConsoleFixture } from './console-browser.ts'
import { showView } from './console-steps.ts'
import { createMainPages } from './main-pages.ts'

/*
 * `node test/support/console/screenshot.ts [width] [folder] [light|dark] [locale]`: starts the service and writes a
 * picture of each main page of the console, by default for README.
 */

const FOLDER = join(import.meta.dirname, '../../../infra/console')
const WIDTH = 1280
const HEIGHT = 720
/** Numbers and previews that are loaded after the view. */
const SETTLED_AFTER_MS = 2_500
const LARGEST_BYTES = 110_000

type Profile = { readonly colorScheme: 'light' | 'dark'; readonly locale: string }

async function takeScreenshots(width: number, folder: string, profile: Profile): Promise<void> {
  const chromium = findChromium()
  if (chromium === undefined) throw new Error('There is no Chromium on this machine')
  mkdirSync(folder, { recursive: true })
  const fixture = await openConsoleFixture(chromium, {})
  try {
    const pages = await createMainPages(fixture)
    for (const person of new Set(pages.map((page) => page.person))) {
      const page = await fixture.openAs(person, '', { ...profile, viewport: { width, height: HEIGHT } })
      for (const { name, path } of pages.filter((page) => page.person === person)) {
        await showView(page, path)
        await page.waitForLoadState('networkidle')
        await page.waitForTimeout(SETTLED_AFTER_MS)
        const file = join(folder, `${name}.png`)
        await page.screenshot({ path: file })
        const sizeBytes = statSync(file).size
        if (folder === FOLDER && sizeBytes > LARGEST_BYTES)
          throw new Error(`${file} has ${sizeBytes} bytes, more than ${LARGEST_BYTES}`)
        process.stdout.write(`${file}: ${sizeBytes} bytes\n`)
      }
      await page.context().close()
    }
  } finally {
    await fixture.close()
  }
}

const [width = WIDTH, folder = FOLDER, scheme = 'light', locale = 'en-GB'] = process.argv.slice(2)
const profile: Profile = { colorScheme: scheme === 'dark' ? 'dark' : 'light', locale }
takeScreenshots(Number(width), folder, profile).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
})
