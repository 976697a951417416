import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, chromium, type Page } from 'playwright-core'
import { newDataFolder, type StartedEnvironment, startedEnvironment } from '../journeys/started-environment.ts'

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** A page of the console in a browser profile of its own. */
export type ConsolePage = Page & {
  /** Errors that the browser reported: exceptions, failed requests, violations of the security policy. */
  readonly reported: readonly string[]
  /** Origins of all requests so far. */
  readonly origins: ReadonlySet<string>
}

/** A started environment and a browser. */
export type ConsoleWorld = {
  readonly environment: StartedEnvironment
  /** The console as a demo person of the first tenant, at a path such as `/links`. */
  openAs(person: string, path?: string, options?: { readonly locale?: string }): Promise<ConsolePage>
  close(): Promise<void>
}

export async function openConsoleWorld(executablePath: string): Promise<ConsoleWorld> {
  const [environment, browser] = await Promise.all([
    startedEnvironment(newDataFolder(), { DEMO_IDENTITIES: '60' }),
    chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] }),
  ])
  return {
    environment,
    async openAs(person, path = '', { locale = 'en-GB' } = {}) {
      const page = await newPage(browser, locale)
      await page.goto(`${environment.apiUrl}/console${path}`)
      await page.getByRole('button', { name: /^(Sign in|Logg inn)$/ }).click()
      const username = environment.demo.tenants[0]?.people.find(({ name }) => name === person)?.username ?? ''
      await page.getByText(username, { exact: true }).click()
      await page.getByRole('banner').waitFor()
      return page
    },
    async close() {
      await browser.close()
      await environment.stop()
    },
  }
}

async function newPage(browser: Browser, locale: string): Promise<ConsolePage> {
  const context = await browser.newContext({ locale, reducedMotion: 'reduce' })
  const page = await context.newPage()
  const reported: string[] = []
  const origins = new Set<string>()
  page.on('pageerror', ({ message }) => reported.push(message))
  page.on('console', (message) => {
    if (message.type() === 'error') reported.push(`${message.text()} ${message.location().url}`)
  })
  page.on('request', (request) => origins.add(new URL(request.url()).origin))
  return Object.assign(page, { reported, origins })
}

type AxeRun = { readonly violations: { readonly id: string; readonly nodes: { readonly html: string }[] }[] }

/** Violations of WCAG 2.2 AA on the page as it is. */
export async function accessibilityFaults(page: Page): Promise<string[]> {
  // Evaluated by the browser's debugger: the page's policy allows no other scripts.
  await page.evaluate(AXE)
  const { violations } = (await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })`,
  )) as AxeRun
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}
