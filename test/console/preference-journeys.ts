import assert from 'node:assert/strict'
import type { ConsoleFixture } from '../support/console/console-browser.ts'
import { assertNarrow, assertSound, journey, menu, tabTo } from '../support/console/console-steps.ts'

const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark', locale: 'nb-NO' } as const

/** When mails come, to whom, and where days begin. */
export function preferenceJourneys(fixture: () => ConsoleFixture): void {
  journey(fixture, 'lets a person choose by keyboard to get mails once a day', async (fixture) => {
    const notifications = () =>
      fixture().call<{ mail: string }>('employee', 'GET', '/collections/beta/me/notifications')
    assert.equal((await notifications()).mail, 'Immediately')
    const page = await fixture().openAs('employee')
    await menu(page, 'Notifications').click()
    const choice = page.getByRole('group', { name: 'Mails' })
    await choice.waitFor()
    assert.equal(await page.getByRole('button', { name: 'Save' }).isDisabled(), true)
    await choice.getByRole('radio', { name: 'At once' }).focus()
    await page.keyboard.press('ArrowDown')
    await assertSound(page)
    await tabTo(page, 'Save')
    await page.keyboard.press('Enter')
    await page.getByText('Saved.').waitFor()
    assert.equal((await notifications()).mail, 'Daily')
    await page.reload()
    await choice.waitFor()
    assert.equal(await choice.getByRole('radio', { name: 'Once a day' }).isChecked(), true)
  })

  journey(fixture, 'explains the choice of mails in Norwegian on a phone', async (fixture) => {
    const page = await fixture().openAs('colleague', '/notifications', PHONE)
    await page.getByText('Én e-post klokken 07.00, hvis det er noe å fortelle.').waitFor()
    await page.getByRole('radio', { name: 'Én gang om dagen' }).click()
    assert.equal(await page.getByRole('radio', { name: 'Én gang om dagen' }).isChecked(), true)
    const [choice, save] = [page.getByRole('group'), page.getByRole('button', { name: 'Lagre' })]
    const [above, below] = [await choice.boundingBox(), await save.boundingBox()]
    assert.ok(above !== null && below !== null && above.y + above.height <= below.y, 'the choice is above its button')
    await assertNarrow(page, 360)
    await assertSound(page)
  })

  journey(fixture, 'changes the time zone, the operators and the language of mails', async (fixture) => {
    const page = await fixture().openAs('admin', '/settings', {
      viewport: { width: 360, height: 740 },
      timezoneId: 'America/New_York',
    })
    await page.getByText('Times are those of UTC, where your organisation is.').waitFor()
    const zone = page.getByLabel('Time zone')
    await zone.waitFor()
    await zone.fill('Europe/Nowhere')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('This value is not possible here.').waitFor()
    await zone.fill('Europe/Oslo')
    await page.getByLabel('Operators').fill('ops@example.org\n\n night@example.org ')
    await page.getByLabel('Language of mails').selectOption('Norsk')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    await assertSound(page)
    await assertNarrow(page, 360)
    const settings = await fixture().call<Record<string, unknown>>('admin', 'GET', '/group-link/beta/settings')
    const { timeZone, operators, language } = settings
    assert.deepEqual(
      { timeZone, operators, language },
      { timeZone: 'Europe/Oslo', operators: ['ops@example.org', 'night@example.org'], language: 'no' },
    )
    const note = 'Times are those of Europe/Oslo, where your organisation is. Your browser is in America/New_York.'
    await page.getByText(note).waitFor()
    const { updatedAt } = await fixture().call<{ updatedAt: string }>('admin', 'GET', '/group-link/beta/settings')
    const format = { dateStyle: 'medium', timeStyle: 'short', timeZone: 'Europe/Oslo' } as const
    await page.getByText(`Changed ${new Intl.DateTimeFormat('en-GB', format).format(new Date(updatedAt))}`).waitFor()
    await assertNarrow(page, 360)
    await assertSound(page)
    const there = await fixture().openAs('admin', '/settings', { timezoneId: 'Europe/Berlin' })
    await there.getByLabel('Time zone').waitFor()
    assert.equal(await there.getByText(/^Times are those of/).count(), 0)
    await fixture().call('admin', 'PATCH', '/group-link/beta/settings', {
      timeZone: 'UTC',
      operators: [],
      language: 'en',
    })
  })
}
