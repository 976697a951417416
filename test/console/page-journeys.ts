import assert from 'node:assert/strict'
import type { ConsoleFixture, ConsolePage } from '../support/console/console-browser.ts'
import {
  assertNarrow,
  assertSound,
  createGroup,
  criteriaCollection,
  focused,
  heading,
  joinableCollection,
  journey,
  leaf,
  showView,
  tabTo,
} from '../support/console/console-steps.ts'
import { createMainPages, type MainPage } from '../support/console/main-pages.ts'

/** A phone, a tablet and a desktop. */
const WIDTHS = [360, 768, 1280] as const
const SCHEMES = ['light', 'dark'] as const
const LANGUAGES = ['English', 'Norsk'] as const

const REQUESTS = '/collections-joinable/beta/membership-requests'

/** The main pages in windows of each width, and the main decisions without a mouse. */
export function pageJourneys(fixture: () => ConsoleFixture): void {
  journey(
    fixture,
    'has twelve main pages that are sound and no wider than a phone, a tablet or a desktop, in both colours and languages',
    async (fixture) => {
      const pages = await createMainPages(fixture())
      assert.equal(pages.length, 12)
      const people = [...new Set(pages.map(({ person }) => person))]
      await Promise.all(
        people.map(async (person) => {
          const page = await fixture().openAs(person)
          for (const one of pages.filter((main) => main.person === person)) await assertFits(page, one)
        }),
      )
    },
  )

  journey(fixture, 'decides on two requests by keyboard, with a reason for the rejection', async (fixture) => {
    const id = await joinableCollection(fixture(), 'Keyboard club', 'approver')
    await fixture().call('employee', 'POST', `${REQUESTS}/${id}/submit`, {})
    await fixture().call('colleague', 'POST', `${REQUESTS}/${id}/submit`, {})
    const page = await fixture().openAs('approver', '/inbox')
    await page.getByRole('row', { name: /Emil Øvrebø.* Keyboard club/ }).waitFor()
    await tabTo(page, 'Select Emil Øvrebø, Keyboard club')
    await page.keyboard.press('Space')
    await tabTo(page, 'Approve 1')
    await page.keyboard.press('Enter')
    await page.getByText('1 request is approved.').waitFor()
    await page.evaluate('document.activeElement.blur()')
    await tabTo(page, 'Select Kolbjørn Dåvik, Keyboard club')
    await page.keyboard.press('Space')
    await tabTo(page, 'Reject 1')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor()
    await tabTo(page, 'Your notes (optional)')
    await page.keyboard.type('The club is full')
    await assertSound(page)
    await tabTo(page, 'Reject')
    await page.keyboard.press('Enter')
    await page.getByText('1 request is rejected.').waitFor()
    const requests = await fixture().call<{ requesterName: string; status: string }[]>(
      'admin',
      'GET',
      `${REQUESTS}/${id}`,
    )
    assert.deepEqual(requests.map(({ requesterName, status }) => `${requesterName}: ${status}`).sort(), [
      'Emil Øvrebø: Joined',
      'Kolbjørn Dåvik: Rejected',
    ])
  })

  journey(fixture, 'links a group by keyboard, and confirms first that somebody is removed', async (fixture) => {
    const environment = fixture().environment
    const stranger = environment.demo.tenants[0]?.people.find(({ name }) => name === 'outsider')?.objectId ?? ''
    await createGroup(environment, 'By keyboard only', [stranger])
    const id = await criteriaCollection(fixture(), 'Without a mouse', [
      leaf('relationshipTitle', 'Equals', 'Archivist'),
    ])
    const page = await fixture().openAs('admin', `/links/new/${id}`)
    await heading(page, /Without a mouse/).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('By keyboard only')
    await page.getByRole('row', { name: /^By keyboard only/ }).waitFor()
    await tabTo(page, 'Choose')
    await page.keyboard.press('Enter')
    await page.getByText('account is removed').waitFor()
    await tabTo(page, 'Link the group')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('1 of 1 members (100 %) of the group By keyboard only').waitFor()
    await assertSound(page)
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await focused(page), 'Link the group')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('1 of 1 members').waitFor()
    await tabTo(page, 'Link and remove 1')
    await page.keyboard.press('Enter')
    await heading(page, 'By keyboard only').waitFor()
    await assertSound(page)
  })
}

/** Opens a page, and shows it in windows of each width, in both colour schemes and both languages. */
async function assertFits(page: ConsolePage, { path }: MainPage): Promise<void> {
  await page.setViewportSize({ width: WIDTHS[0], height: 800 })
  await showView(page, path)
  for (const [place, language] of LANGUAGES.entries()) {
    await showIn(page, language)
    for (const [index, width] of WIDTHS.entries()) {
      await page.setViewportSize({ width, height: 800 })
      for (const [other, colorScheme] of SCHEMES.entries()) {
        await page.emulateMedia({ colorScheme })
        await assertNarrow(page, width)
        // Schemes and languages alternate with the widths. The colours of the first width are examined in both schemes.
        if (place === index % 2 && other === place) await assertSound(page)
        else if (place === 1 && index === 0 && other === 1) await assertSound(page, 'colours')
      }
    }
  }
}

/** The texts of the other language are loaded first. */
async function showIn(page: ConsolePage, language: (typeof LANGUAGES)[number]): Promise<void> {
  const code = language === 'English' ? 'en' : 'nb'
  if ((await page.locator('html').getAttribute('lang')) === code) return
  await page.getByRole('banner').getByRole('button', { name: language, exact: true }).click()
  await page.locator(`html[lang=${code}]`).waitFor()
}
