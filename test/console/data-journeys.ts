import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { ConsoleFixture } from '../support/console/console-browser.ts'
import {
  assertSound,
  criteriaCollection,
  focused,
  heading,
  journey,
  leaf,
  menu,
  press,
} from '../support/console/console-steps.ts'

const UNRESOLVED = { objectType: 'relationship', externalId: 'r1', attribute: 'orgUnit', reference: 'u1' }

/** Sources, the quality of their data, events, and what is found at once. */
export function dataJourneys(fixture: () => ConsoleFixture): void {
  journey(
    fixture,
    'lists people without an account with names, and adds a source with all that it needs',
    async (fixture) => {
      const page = await fixture().openAs('coreAdmin', '/quality')
      const without = page.getByRole('region', { name: 'People without an account' })
      await without.getByRole('link').first().waitFor()
      await page.getByText('No two people share a key.').waitFor()
      await page.getByText('Each account belongs to one person.').waitFor()
      await page.getByText('All references lead to an object.').waitFor()
      await page.route('**/unresolved?*', (route) =>
        route.fulfill({ json: { data: [UNRESOLVED], nextCursor: 'v1_more', errors: [] } }),
      )
      await page.reload()
      await page.getByText('The first 200 of each source are shown.').waitFor()
      await page.getByText('npm run dead-letters -- list').waitFor()
      await assertSound(page)
      await menu(page, 'Sources').click()
      await page.getByRole('link', { name: 'Add a source' }).click()
      await page.getByLabel('Name').fill('Payroll')
      await page.getByLabel('Application').fill('7f3c0f6e-2a8d-4b8e-9d60-0d4d5a6b7c11')
      await page.getByLabel('Expected interval in hours').fill('24')
      await assertSound(page)
      await page.getByRole('button', { name: 'Add a source' }).click()
      await page.getByText('Payroll is added. It waits for its first data.').waitFor()
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'identities.csv' }).click(),
      ])
      assert.equal(download.suggestedFilename(), 'identities.csv')
      const id = new URL(page.url()).pathname.split('/').at(-1)
      await page.getByText(`--connector ${id} --api-url ${fixture().environment.apiUrl} --dry-run`).waitFor()
      await assertSound(page)
    },
  )

  journey(fixture, 'sends a test event to a subscription, shows its delivery, and sends it again', async (fixture) => {
    const received: (string | undefined)[] = []
    // It also gets what other journeys do to groups meanwhile.
    const receiver = createServer(async (request, response) => {
      if ((await text(request)).includes('subscription.test')) {
        received.push(request.headers['webhook-id']?.toString())
        receiver.emit('test-received')
      }
      response.end()
    }).listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    try {
      const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/events`
      const page = await fixture().openAs('collectionsAdmin', '/subscriptions')
      await page.getByRole('link', { name: 'New subscription' }).click()
      await page.getByLabel('Address').fill(url)
      await page.getByLabel('Removals are held, approved or rejected').check()
      await assertSound(page)
      await page.getByRole('button', { name: 'New subscription' }).click()
      await page.getByText(/^whsec_/).waitFor()
      await assertSound(page)
      await page.getByRole('button', { name: 'Close' }).click()
      await heading(page, url).waitFor()
      await page.getByText('member*, removals*').waitFor()
      await page.getByRole('button', { name: 'Send a test event' }).click()
      await page.getByText('The test event is sent.').waitFor()
      const delivered = page.getByRole('row', { name: /subscription\.test Delivered 1/ })
      for (let reloads = 0; reloads < 50 && (await delivered.count()) === 0; reloads++) {
        const loaded = page.waitForResponse(/deliveries/)
        await page.getByRole('button', { name: 'Reload' }).click()
        await loaded
      }
      await delivered.getByRole('button', { name: 'Details' }).click()
      await page.getByRole('dialog').locator('td[data-head="Answer"]', { hasText: '200' }).waitFor()
      await assertSound(page)
      await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
      await delivered.getByRole('button', { name: 'Send again' }).click()
      await page.getByText('The event is sent again.').waitFor()
      while (received.length < 2) await once(receiver, 'test-received')
      assert.equal(received[0], received[1])
      await page.getByRole('button', { name: 'Replace the secret' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Replace the secret' }).click()
      await page.getByText(/^whsec_/).waitFor()
      await page.getByRole('dialog', { name: 'Secret', exact: true }).getByRole('button', { name: 'Close' }).click()
      await page.getByText('The secret is replaced.').waitFor()
      await page.getByRole('button', { name: 'Delete subscription' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete subscription' }).click()
      await heading(page, 'Events').waitFor()
    } finally {
      receiver.close()
      receiver.closeAllConnections()
    }
  })

  journey(fixture, 'keeps the search and the order of a list in the address', async (fixture) => {
    for (const name of ['Order Å', 'Order Z', 'Order Ø']) {
      await criteriaCollection(fixture(), name, [leaf('relationshipTitle', 'Equals', name)])
    }
    const page = await fixture().openAs('admin', '/collections', { locale: 'nb-NO' })
    await page.getByRole('searchbox').fill('order')
    await press(page, 'Navn')
    const names = () => page.getByRole('link', { name: /^Order/ }).allTextContents()
    assert.deepEqual(await names(), ['Order Z', 'Order Ø', 'Order Å'])
    await page.getByRole('button', { name: 'Navn' }).click()
    assert.equal(new URL(page.url()).search, '?text=order&sort=-1')
    await page.reload()
    await page.getByRole('link', { name: 'Order Å' }).waitFor()
    assert.deepEqual(await names(), ['Order Å', 'Order Ø', 'Order Z'])
    await page.getByRole('columnheader', { name: 'Navn' }).and(page.locator('[aria-sort="descending"]')).waitFor()
    await assertSound(page)
  })

  journey(fixture, 'finds collections and groups by name from anywhere', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'Needle in a haystack', [leaf('relationshipTitle', 'Equals', 'x')])
    const page = await fixture().openAs('collectionsAdmin')
    await heading(page, 'Overview').waitFor()
    await page.getByRole('button', { name: /^Find/ }).click()
    await page.getByRole('combobox').fill('needle')
    // A click needs what is found to be in the window, and nothing before it.
    await page.getByRole('option', { name: /Needle in a haystack .*Collection/ }).click()
    await heading(page, 'Needle in a haystack').waitFor()
    assert.equal(new URL(page.url()).pathname, `/console/collections/${id}`)
  })

  journey(fixture, 'asks before another view takes the place of what is not saved', async (fixture) => {
    const page = await fixture().openAs('collectionsAdmin', '/collections')
    const questions: string[] = []
    page.on('dialog', (question) => {
      questions.push(question.message())
      return questions.length % 2 === 1 ? question.dismiss() : question.accept()
    })
    const newCollection = page.getByRole('link', { name: 'New collection by condition' })
    const name = page.getByLabel('Name', { exact: true })
    await newCollection.click()
    await name.fill('Not saved')
    await page.locator('a.skip').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    assert.deepEqual([await focused(page), questions], ['Collections', []])
    await page.goBack()
    assert.equal(await name.inputValue(), 'Not saved')
    assert.equal(new URL(page.url()).pathname, '/console/collections/new')
    await page.goBack()
    await heading(page, 'Collections').waitFor()
    await newCollection.click()
    await name.fill('Not saved')
    const open = async () => {
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'People, collections' }).fill('linked gr')
      await page.getByRole('option', { name: /^Linked groups/ }).waitFor()
      await page.keyboard.press('Enter')
    }
    await open()
    assert.equal(await name.inputValue(), 'Not saved')
    await open()
    await heading(page, 'Linked groups').waitFor()
    assert.deepEqual(questions, Array(4).fill('Leave the page? Your changes are not saved.'))
  })

  journey(
    fixture,
    'opens at the root of the service, with a slash at the end, in the language last chosen',
    async (fixture) => {
      const { apiUrl } = fixture().environment
      const page = await fixture().openAs('colleague', '', { locale: 'en-GB' })
      await page.getByRole('button', { name: 'Norsk' }).click()
      await page.goto(apiUrl)
      await heading(page, 'Oversikt').waitFor()
      assert.equal(new URL(page.url()).pathname, '/console/home')
      await page.goto(`${apiUrl}/console/join/`)
      await heading(page, 'Bli med').waitFor()
      await assertSound(page)
    },
  )
}
