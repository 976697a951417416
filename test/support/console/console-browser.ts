import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { newDataFolder, type StartedEnvironment, startedEnvironment } from '../journeys/started-environment.ts'
import { isHeadlessShell } from '../local/headless-browser.ts'

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8')

/** A page of the console in a browser profile of its own. */
export type ConsolePage = Page & {
  /** Errors that the browser reported: exceptions, missing files, violations of the security policy. */
  readonly reported: readonly string[]
  /** Origins of all requests so far. */
  readonly origins: ReadonlySet<string>
}

type PageOptions = Pick<BrowserContextOptions, 'locale' | 'colorScheme' | 'viewport' | 'timezoneId'>

/** A started environment and a browser. */
export type ConsoleFixture = {
  readonly environment: StartedEnvironment
  /** The console as a demo person of the first tenant, at a path such as `/links`. */
  openAs(person: string, path?: string, options?: PageOptions): Promise<ConsolePage>
  /** Calls the API as a demo person. */
  call<Data>(person: string, method: string, path: string, body?: object): Promise<Data>
  close(): Promise<void>
}

type Cookies = Awaited<ReturnType<BrowserContext['cookies']>>

/** In each window, Chromium renders two pages for its address bar. The headless shell has neither. */
const WITHOUT_ADDRESS_BAR = '--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup'

/** Without it, each page starts a second process that waits for a next page. A window has one page only. */
const WITHOUT_SPARE_PROCESS = '--renderer-process-limit=1'

/** @param variables of the environment, for example the number of people. */
export async function openConsoleFixture(
  executablePath: string,
  variables: Record<string, string> = { DEMO_IDENTITIES: '60' },
): Promise<ConsoleFixture> {
  const added = isHeadlessShell(executablePath) ? [] : [WITHOUT_ADDRESS_BAR]
  const [environment, browser] = await Promise.all([
    startedEnvironment(newDataFolder(), variables),
    chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu', WITHOUT_SPARE_PROCESS, ...added] }),
  ])
  const tenant = environment.demo.tenants[0]
  /** A person signs in once. Later pages have the session of the authority. */
  const sessions = new Map<string, Cookies>()
  const tokens = new Map<string, Promise<string>>()
  const tokenOf = (person: string): Promise<string> => {
    const known = tokens.get(person) ?? accessToken(environment, person)
    tokens.set(person, known)
    return known
  }
  return {
    environment,
    async openAs(person, path = '', options = {}) {
      const session = sessions.get(person)
      const page = await newPage(browser, options, session)
      await page.goto(`${environment.apiUrl}/console${path}`)
      if (session === undefined) {
        await page.getByRole('button', { name: /^(Sign in|Logg inn)$/ }).click()
        await choosePerson(page, environment, person)
      }
      await page.getByRole('banner').waitFor()
      // The state with its storage would take one more page for each origin.
      if (session === undefined) sessions.set(person, await page.context().cookies())
      return page
    },
    async call<Data>(person: string, method: string, path: string, body?: object) {
      const response = await fetch(environment.apiUrl + path, {
        method,
        headers: { authorization: `Bearer ${await tokenOf(person)}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      const { data, errors } = (await response.json()) as { data: Data; errors: unknown }
      if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(errors)}`)
      return data
    },
    async close() {
      await browser.close()
      await environment.stop()
    },
  }

  async function accessToken({ directory, demo }: StartedEnvironment, name: string): Promise<string> {
    const person = tenant?.people.find((candidate) => candidate.name === name)
    const { json } = await directory('POST', `/${tenant?.tenantId}/oauth2/v2.0/token`, {
      form: {
        grant_type: 'password',
        client_id: demo.publicClientId,
        username: person?.username ?? '',
        password: person?.password ?? '',
        scope: demo.scope,
      },
    })
    return (json as { access_token: string }).access_token
  }
}

/** Chooses a demo person on the sign-in page of the authority. */
export async function choosePerson(page: Page, { demo }: StartedEnvironment, person: string): Promise<void> {
  const username = demo.tenants[0]?.people.find(({ name }) => name === person)?.username ?? ''
  await page.getByText(username, { exact: true }).click()
}

async function newPage(browser: Browser, options: PageOptions, session: Cookies = []): Promise<ConsolePage> {
  const context = await browser.newContext({ locale: 'en-GB', reducedMotion: 'reduce', ...options })
  await context.addCookies(session)
  const page = await context.newPage()
  const reported: string[] = []
  const origins = new Set<string>()
  page.on('pageerror', ({ message }) => reported.push(message))
  page.on('console', (message) => {
    const { url } = message.location()
    // A refusal of the API is an answer that the console shows.
    const isRefusal = /status of 4\d\d/.test(message.text()) && !url.includes('/console')
    if (message.type() === 'error' && !isRefusal) reported.push(`${message.text()} ${url}`)
  })
  page.on('request', (request) => origins.add(new URL(request.url()).origin))
  return Object.assign(page, { reported, origins })
}

type AxeRun = { readonly violations: { readonly id: string; readonly nodes: { readonly html: string }[] }[] }

const RULES = {
  all: "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']",
  colours: "{ type: 'rule', values: ['color-contrast', 'link-in-text-block'] }",
} as const

/** What is examined: all rules, or those whose outcome depends on the colours. */
export type AccessibilityRules = keyof typeof RULES

/** Violations of WCAG 2.2 AA on the page as it is. */
export async function accessibilityFaults(page: Page, rules: AccessibilityRules = 'all'): Promise<string[]> {
  if (await page.evaluate('window.axe === undefined')) await addAxe(page)
  const { violations } = (await page.evaluate(
    `axe.run(document, { resultTypes: ['violations'], runOnly: ${RULES[rules]} })`,
  )) as AxeRun
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

/** By the browser's debugger: the page's policy allows no other scripts. `page.evaluate` would compile the text twice. */
async function addAxe(page: Page): Promise<void> {
  const debugging = await page.context().newCDPSession(page)
  await debugging.send('Runtime.evaluate', { expression: AXE })
  await debugging.detach()
}
