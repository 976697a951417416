import assert from 'node:assert/strict'
import { type ConsoleFixture, choosePerson } from '../support/console/console-browser.ts'
import {
  assertSound,
  criteriaCollection,
  heading,
  joinableCollection,
  journey,
  leaf,
  openView,
  reviewAndSave,
} from '../support/console/console-steps.ts'

/** What is typed into a form is not lost: faults, two tabs, an ended session. */
export function formJourneys(fixture: () => ConsoleFixture): void {
  journey(fixture, 'shows a fault of the condition at the leaf that it concerns', async (fixture) => {
    const page = await fixture().openAs('admin', '/collections/new')
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Attribute').first().fill('relationshipTitle')
    await page.getByLabel('Value').first().fill('Teacher')
    await page.getByLabel('Attribute').last().fill('identityColour')
    await page.getByLabel('Value').last().fill('red')
    const faults = page.locator('.leaf').filter({ hasText: 'This attribute does not exist. Choose one from the list.' })
    await faults.waitFor()
    assert.equal(await faults.count(), 1)
    assert.equal(await faults.getByLabel('Attribute').inputValue(), 'identityColour')
    await assertSound(page)
  })

  journey(fixture, 'opens a condition with each kind of field and value, and saves it unchanged', async (fixture) => {
    const conditions = [
      leaf('relationshipTitle', 'Equals', 'TEACHER', 'ToUpper(relationshipTitle)'),
      leaf('relationshipTitle', 'In', ['t', 'n'], 'ToLower(Substring(relationshipTitle,0,1))'),
      leaf('relationshipTitle', 'StartsWith', '', 'Substring(relationshipTitle,2,5)'),
      leaf('relationshipStartDate', 'GreaterThan', 'AddDays(Today(),-90)', 'AddDays(relationshipStartDate,30)'),
      leaf('relationshipStartDate', 'LessThan', '2030-01-01'),
      leaf('relationshipStartDate', 'NotEquals', '2030-01-01T12:00:00.000Z'),
      {
        groupOperator: 'XOR',
        conditions: [
          leaf('relationshipEndDate', 'IsNull'),
          leaf('relationshipEndDate', 'Equals', 'Today()', 'Today()'),
        ],
      },
      leaf('identityDirectoryOnPremisesSyncEnabled', 'NotEquals', true),
    ]
    const id = await criteriaCollection(fixture(), 'Each kind', conditions)
    const path = `/collections-criteria/beta/${id}`
    const before = await fixture().call<{ condition: unknown }>('admin', 'GET', path)
    const page = await fixture().openAs('admin', `/collections/${id}/edit`)
    await page.getByText('match now').waitFor()
    await assertSound(page)
    await page.getByLabel('Name', { exact: true }).fill('Each kind, saved')
    await reviewAndSave(page)
    await heading(page, 'Each kind, saved').waitFor()
    const after = await fixture().call<{ condition: unknown; name: string }>('admin', 'GET', path)
    assert.deepEqual([after.name, after.condition], ['Each kind, saved', before.condition])
  })

  journey(
    fixture,
    'builds a condition from functions, days, collections and units, and shows them by name',
    async (fixture) => {
      await criteriaCollection(fixture(), 'Referred to', [leaf('relationshipTitle', 'Contains', 'Teacher')])
      const page = await fixture().openAs('admin', '/collections/new')
      await page.getByLabel('Name', { exact: true }).fill('Built')
      await page.getByLabel('Attribute').fill('relationshipStartDate')
      await page.getByLabel('Operator').selectOption('is before')
      await page.getByLabel('Compared with').selectOption('Days from today')
      await page.getByLabel('Value').fill('-30')
      await page.getByRole('button', { name: 'Add a condition' }).click()
      await page.getByLabel('Attribute').last().fill('memberOfCollection')
      await page.getByLabel('Operator').last().selectOption('is one of')
      await page.getByLabel('Find a collection by name').fill('referred')
      await page.getByRole('button', { name: 'Referred to', exact: true }).click()
      await page.getByRole('button', { name: 'Add a condition' }).click()
      await page.getByLabel('Attribute').last().fill('relationshipOrgUnit')
      await page.getByLabel('Operator').last().selectOption('is not')
      await page.getByLabel('Find a unit by name').fill('service d')
      await page.getByRole('button', { name: 'Service Desk', exact: true }).click()
      await page.getByText(/^[1-9]\d* match now$/).waitFor()
      await assertSound(page)
      await page.getByRole('button', { name: 'Move up' }).nth(1).click()
      await reviewAndSave(page)
      await page.getByRole('link', { name: 'Condition' }).click()
      await page.getByText('is one of').waitFor()
      const sentences = await page
        .getByRole('listitem')
        .filter({ hasText: /is one of|is before|Position: unit/ })
        .allTextContents()
      assert.deepEqual(sentences, [
        'Member of a collection is one of Referred to',
        'Position: start date is before 30 days ago',
        'Position: unit is not Service Desk',
      ])
    },
  )

  journey(fixture, 'offers values of the data for a text, and finds a person by name or id', async (fixture) => {
    const { identityId } = await fixture().call<{ identityId: string }>('employee', 'GET', '/collections/beta/me')
    const page = await fixture().openAs('admin', '/collections/new')
    await page.getByLabel('Attribute').fill('relationshipTitle')
    await page.getByLabel('Value').focus()
    await page.getByText(/^In the data: .*Teacher/).waitFor()
    await page.locator('datalist option[value="Teacher"]').waitFor({ state: 'attached' })
    await page.getByLabel('Operator').selectOption('is one of')
    await page.getByLabel('Values, one per line').focus()
    await page.getByText(/^In the data: .*Teacher/).waitFor()
    await page.getByLabel('Attribute').fill('identityId')
    for (const text of [identityId, 'aprilla']) {
      await page.getByLabel('Find a person by name').fill(text)
      await page.getByRole('button', { name: /^(Emil Øvrebø|Aprilla Grøndahl Head of Archive)/ }).click()
    }
    await page.getByText(/^2 match now$/).waitFor()
    await page.getByRole('button', { name: 'Remove Aprilla Grøndahl' }).click()
    await page.getByText(/^1 matches now$/).waitFor()
    await assertSound(page)
  })

  journey(
    fixture,
    'compares both versions when two tabs save the same collection, and loses neither',
    async (fixture) => {
      const id = await criteriaCollection(fixture(), 'Two tabs', [leaf('relationshipTitle', 'Equals', 'Teacher')])
      const [first, second] = await Promise.all([1, 2].map(() => fixture().openAs('admin', `/collections/${id}/edit`)))
      assert.ok(first !== undefined && second !== undefined)
      await Promise.all([first, second].map((page) => page.getByText('match now').waitFor()))
      await first.getByLabel('Description').fill('From the first tab')
      await reviewAndSave(first)
      await heading(first, 'Two tabs').waitFor()
      await second.getByLabel('Description').fill('From the second tab')
      await reviewAndSave(second)
      await second.getByRole('row', { name: 'Description From the second tab From the first tab' }).waitFor()
      assert.equal(await second.getByLabel('Description').inputValue(), 'From the second tab')
      await second.getByRole('button', { name: 'Keep my version' }).click()
      await reviewAndSave(second)
      await second.getByText('Two tabs is saved.').waitFor()
      await second.getByText('From the second tab').waitFor()
    },
  )

  journey(fixture, 'keeps what another person has set and the form does not show', async (fixture) => {
    const id = await joinableCollection(fixture(), 'Two forms', 'approver')
    const path = `/collections-joinable/beta/${id}`
    type Stored = { readonly joinPolicy: object; readonly description: string }
    const { joinPolicy } = await fixture().call<Stored>('admin', 'GET', path)
    const page = await fixture().openAs('admin', `/collections/${id}/edit-policy`)
    const changeAndSave = async (description: string, requestDays: number) => {
      await page.getByLabel('Description').fill(description)
      const body = { objectType: 'Identity', joinPolicy: { ...joinPolicy, requestDays } }
      await fixture().call('admin', 'PUT', path, body)
      await page.getByRole('button', { name: 'Save' }).click()
      await page.getByText('Someone else has changed parts that this page does not show.').waitFor()
    }
    await changeAndSave('', 14)
    assert.equal(await page.getByText('Someone else has saved the same meanwhile.').count(), 0)
    await page.getByRole('button', { name: 'Keep my version' }).click()
    await changeAndSave('Mine', 21)
    await page.getByRole('row', { name: 'Description Mine' }).waitFor()
    await page.getByRole('button', { name: 'Keep my version' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await heading(page, 'Two forms').waitFor()
    const stored = await fixture().call<Stored>('admin', 'GET', path)
    assert.deepEqual([stored.joinPolicy, stored.description], [{ ...joinPolicy, requestDays: 21 }, 'Mine'])
  })

  journey(fixture, 'keeps what is typed when the session ends, signs in in a window, and saves', async (fixture) => {
    const page = await fixture().openAs('collectionsAdmin', '/collections/new-joinable')
    await page.getByLabel('Name', { exact: true }).fill('Typed before the session ended')
    await page.route('**/oauth2/v2.0/token', (route) =>
      route.fulfill({ status: 400, json: { error: 'invalid_grant' } }),
    )
    await page.clock.setFixedTime(Date.now() + 3 * 3_600_000)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Your session has ended. Sign in again to continue.').waitFor()
    await page.unroute('**/oauth2/v2.0/token')
    await page.clock.setFixedTime(Date.now())
    const signInAs = async (person: string) => {
      const [signInWindow] = await Promise.all([
        page.waitForEvent('popup'),
        page.getByRole('button', { name: 'Sign in' }).click(),
      ])
      await choosePerson(signInWindow, fixture().environment, person)
    }
    await signInAs('employee')
    await page.getByText('Someone else has signed in').waitFor()
    await signInAs('collectionsAdmin')
    await heading(page, 'Typed before the session ended').waitFor()
  })

  journey(fixture, 'renews a token in the middle of a form without a word', async (fixture) => {
    const page = await fixture().openAs('collectionsAdmin', '/collections/new-joinable')
    await page.getByLabel('Name', { exact: true }).fill('Typed while the token expired')
    let refusedCount = 0
    await page.route('**/collections-joinable/beta', (route) => {
      refusedCount += 1
      return refusedCount === 1 ? route.fulfill({ status: 401, json: { data: null, errors: [] } }) : route.continue()
    })
    // A token that was refused is not sent again.
    const renewal = page.waitForRequest('**/oauth2/v2.0/token')
    await page.getByRole('button', { name: 'Save' }).click()
    await renewal
    await heading(page, 'Typed while the token expired').waitFor()
  })

  journey(fixture, 'begins a form with its own record, not with the one that was open before', async (fixture) => {
    const condition = [leaf('relationshipTitle', 'Equals', 'Teacher')]
    const former = await criteriaCollection(fixture(), 'Open before', condition)
    const next = await criteriaCollection(fixture(), 'Open now', condition)
    const page = await fixture().openAs('admin', `/collections/${former}/edit`)
    const name = page.getByLabel('Name', { exact: true })
    await name.waitFor()
    let answer = () => {}
    const isAnswered = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route(`**/collections-criteria/beta/${next}`, async (route) => {
      await isAnswered
      await route.continue()
    })
    await openView(page, `/collections/${next}/edit`)
    await page.getByRole('status', { name: 'Loading' }).first().waitFor()
    assert.equal(await name.count(), 0)
    answer()
    await name.waitFor()
    assert.equal(await name.inputValue(), 'Open now')
  })
}
