import assert from 'node:assert/strict'
import type { Route } from 'playwright-core'
import { accessibilityFaults, type ConsoleFixture, choosePerson } from '../support/console/console-browser.ts'
import {
  assertSound,
  createCollection,
  criteriaCollection,
  focused,
  heading,
  journey,
  leaf,
  menu,
  openView,
  showView,
  tabTo,
} from '../support/console/console-steps.ts'

/** Views that people with each role can open, for the checks of all of them. */
const VIEWS = [
  '/collections',
  '/collections/new',
  '/collections/new-joinable',
  '/links',
  '/links/new',
  '/settings',
  '/subscriptions',
]
const OWN_VIEWS = ['/home', '/inbox', '/me', '/join', '/notifications', '/connectors', '/quality', '/people']

/** Of the authority. */
const CONFIGURATION = '**/.well-known/openid-configuration'

/** What holds on all views: language, colours, width, network, names, sign-in. */
export function shellJourneys(fixture: () => ConsoleFixture): void {
  journey(
    fixture,
    'has sound views in Norwegian, dark, and 320 pixels wide, which is 1280 at 400 %',
    async (fixture) => {
      const options = { locale: 'nb-NO', colorScheme: 'dark', viewport: { width: 320, height: 640 } } as const
      const page = await fixture().openAs('admin', '', options)
      await heading(page, 'Oversikt').waitFor()
      assert.equal(await page.locator('html').getAttribute('lang'), 'nb')
      for (const view of [...VIEWS, ...OWN_VIEWS]) {
        await showView(page, view)
        await assertSound(page)
        assert.ok(
          await page.evaluate('document.documentElement.scrollWidth <= 320'),
          `${view} is wider than the window`,
        )
      }
      await page.getByRole('button', { name: 'English' }).click()
      await heading(page, 'People').waitFor()
    },
  )

  journey(
    fixture,
    'stays signed in over a reload of a deep link, signs in after a failure, and asks again after the sign-out',
    async (fixture) => {
      const page = await fixture().openAs('newcomer', '/links')
      await page.reload()
      await page.getByRole('banner').waitFor()
      assert.equal(new URL(page.url()).pathname, '/console/links')
      await page.route(CONFIGURATION, (route) => route.abort())
      await page.reload()
      await page.getByText('The sign-in failed: ').waitFor()
      await page.unroute(CONFIGURATION)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await choosePerson(page, fixture().environment, 'newcomer')
      await page.getByRole('banner').waitFor()
      assert.equal(new URL(page.url()).pathname, '/console/links')
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('button', { name: 'Sign in' }).waitFor()
      assert.deepEqual(await page.evaluate('Object.keys(localStorage).concat(Object.keys(sessionStorage))'), [])
    },
  )

  journey(
    fixture,
    'signs a person in for the API reference, which then sends requests as that person',
    async (fixture) => {
      const page = await fixture().openAs('employee')
      await page.route('**/openapi.json', describeOnly('/collections/beta/me'))
      await page.goto(`${fixture().environment.apiUrl}/docs`)
      const operation = page.locator('[id$="getCaller"]')
      await operation.waitFor()
      const [opened] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('button', { name: 'Sign in' }).click(),
      ])
      await page.getByText(/^Signed in as employee@/).waitFor()
      if (!opened.isClosed()) await opened.waitForEvent('close')
      await operation.getByRole('button').first().click()
      await operation.getByRole('button', { name: 'Try it out' }).click()
      await operation.getByRole('button', { name: 'Execute' }).click()
      await operation.locator('.live-responses-table').getByText('"Emil Øvrebø"').waitFor()
      assert.deepEqual(page.reported, [])
    },
  )

  journey(fixture, 'calls its own origin and the authority only', async (fixture) => {
    const page = await fixture().openAs('admin', '/people')
    const authority = await page.locator('meta[name="sign-in-authority"]').getAttribute('content')
    assert.deepEqual(page.origins, new Set([fixture().environment.apiUrl, authority]))
  })

  journey(fixture, 'shows names as text, whatever they contain', async (fixture) => {
    const page = await fixture().openAs('admin')
    const name = '<img src=x onerror=alert(1)>'
    await createCollection(page, name, 'Teacher')
    await menu(page, 'Collections').click()
    await page.getByRole('link', { name }).waitFor()
    assert.deepEqual(page.reported, [])
  })

  journey(fixture, 'tells on each view that it loads, and why it failed, and loads again', async (fixture) => {
    const page = await fixture().openAs('admin', '/people')
    await heading(page, 'People').waitFor()
    let answer: (route: Route) => Promise<void> = (route) => route.continue()
    await page.route(/beta/, (route) => answer(route))
    for (const view of [...VIEWS, ...OWN_VIEWS].filter((one) => one !== '/people')) {
      let fail = () => {}
      const failed = new Promise<void>((resolve) => {
        fail = resolve
      })
      answer = async (route) => {
        await failed
        await route.fulfill({ status: 500, json: { data: null, errors: [] } })
      }
      await openView(page, view)
      const loading = page.getByRole('status', { name: 'Loading' }).first()
      await loading.waitFor()
      fail()
      await page.getByRole('alert').first().getByText('This did not work.').waitFor()
      await loading.waitFor({ state: 'detached' })
      answer = (route) => route.continue()
      // A view with several parts has several buttons, which vanish when the parts are loaded.
      const retries = page.getByRole('button', { name: 'Try again' })
      await retries.evaluateAll(clickAll)
      await retries.first().waitFor({ state: 'detached' })
    }
    answer = (route) =>
      route.fulfill({ status: 403, json: { data: null, errors: [{ code: 'RoleRequired', message: '' }] } })
    await openView(page, '/links')
    await page.getByRole('alert').getByText('Your role does not allow this.').waitFor()
    assert.equal(await page.getByRole('button', { name: 'Try again' }).count(), 0)
    assert.deepEqual(await accessibilityFaults(page), [])
  })

  journey(fixture, 'keeps what is shown while the service is not reachable, and says so', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'Kept', [leaf('relationshipTitle', 'Contains', 'Teacher')])
    const page = await fixture().openAs('admin', '/links')
    // A collection that was just changed is loaded again and again.
    await page.clock.setFixedTime(Date.now())
    await openView(page, `/collections/${id}`)
    const member = page.getByRole('cell', { name: 'Has an account' }).first()
    await member.waitFor()
    await page.context().setOffline(true)
    await page.getByText(/^As of /).waitFor()
    await member.waitFor()
    await menu(page, 'Collections').click()
    await page.getByText('The service is not reachable.').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(/^\d+ of \d+$/).waitFor()
  })

  journey(fixture, 'is used without a mouse: from the menu to a saved collection and back', async (fixture) => {
    const page = await fixture().openAs('admin', '/collections')
    await heading(page, 'Collections').waitFor()
    await tabTo(page, 'New collection by condition')
    await page.keyboard.press('Enter')
    await heading(page, 'New collection by condition').waitFor()
    assert.equal(await focused(page), 'New collection by condition')
    await tabTo(page, 'Name')
    await page.keyboard.type('By keyboard')
    await tabTo(page, 'Attribute')
    await page.keyboard.type('relationshipTitle')
    await tabTo(page, 'Value')
    await page.keyboard.type('Teacher')
    await tabTo(page, 'Add a condition')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Shift+Tab')
    assert.equal(await focused(page), 'Remove')
    await page.keyboard.press('Enter')
    assert.equal(await focused(page), 'Add a condition')
    await page.getByText(/^[1-9]\d* match now$/).waitFor()
    await tabTo(page, 'Review and save')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, 'Save')
    await page.keyboard.press('Enter')
    await heading(page, 'By keyboard').waitFor()
    await page.getByRole('button', { name: 'Why?' }).first().waitFor()
    await tabTo(page, 'Why?')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await focused(page), 'Why?')
    await page.keyboard.press('/')
    assert.equal(await focused(page), 'Find by name or title')
  })
}

/** Leaves the other paths out of the API description: a browser renders all of its operations for seconds. */
function describeOnly(path: string): (route: Route) => Promise<void> {
  return async (route) => {
    const response = await route.fetch()
    const description = await response.json()
    await route.fulfill({ response, json: { ...description, paths: { [path]: description.paths[path] } } })
  }
}

/** Runs in the browser. */
function clickAll(buttons: unknown[]): void {
  for (const button of buttons) (button as { click(): void }).click()
}
