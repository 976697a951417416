import assert from 'node:assert/strict'
import type { ConsoleFixture } from '../support/console/console-browser.ts'
import {
  assertSound,
  countedSteps,
  criteriaCollection,
  heading,
  journey,
  leaf,
  reviewAndSave,
} from '../support/console/console-steps.ts'

type Condition = { readonly condition: { readonly conditions: readonly object[] } }

/** Journeys through the builder of conditions. */
export function builderJourneys(fixture: () => ConsoleFixture): void {
  journey(fixture, 'builds a title in a unit and below since a day in at most 12 steps', async (fixture) => {
    const page = await fixture().openAs('admin', '/collections')
    const { step, count } = countedSteps()
    await step(page.getByRole('link', { name: 'New collection by condition' }).click())
    await step(page.getByLabel('Name', { exact: true }).fill('Advisers since 2020'))
    await step(page.getByLabel('Attribute').fill('position: title'))
    await step(page.getByLabel('Value').fill('Adviser'))
    await step(page.getByRole('button', { name: 'Add a condition' }).click())
    await step(page.getByLabel('Attribute').last().fill('unit or below'))
    await step(page.getByLabel('Find a unit by name').fill('digital'))
    await step(page.getByRole('button', { name: 'Digital Services', exact: true }).click())
    await step(page.getByRole('button', { name: 'Add a condition' }).click())
    await step(page.getByLabel('Attribute').last().fill('position: start date'))
    await step(page.getByLabel('Operator').last().selectOption('is at or after'))
    await step(page.getByLabel('Value').last().fill('2020-01-01'))
    assert.ok(count() <= 12, `${count()} steps`)
    await page
      .getByText(
        'Position: title is Adviser and Unit or below is Digital Services and Position: start date is at or after',
      )
      .waitFor()
    await assertSound(page)
    await reviewAndSave(page)
    await heading(page, 'Advisers since 2020').waitFor()
  })

  journey(
    fixture,
    'finds an attribute by words in a box, by keyboard, and never shows its name in the schema',
    async (fixture) => {
      const page = await fixture().openAs('admin', '/collections/new')
      const box = page.getByRole('combobox', { name: 'Attribute' })
      await box.focus()
      await page.keyboard.type('unit na')
      await page.getByRole('group', { name: 'Unit' }).getByRole('option', { name: 'name', exact: true }).waitFor()
      await assertSound(page)
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      assert.equal(await box.inputValue(), 'Unit: name')
      assert.equal(await box.getAttribute('aria-expanded'), 'false')
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Escape')
      assert.equal(await page.getByRole('listbox').count(), 0)
      assert.equal(await page.getByText('orgUnitDisplayName').count(), 0)
    },
  )

  journey(fixture, 'previews the complete part, and asks whether another value was meant', async (fixture) => {
    const page = await fixture().openAs('admin', '/collections/new')
    await page.getByLabel('Attribute').fill('relationshipTitle')
    await page.getByLabel('Value').fill('advisor')
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByText('Lines that are not complete are left out.').waitFor()
    await page.getByText('Nobody has the value advisor.').waitFor()
    await assertSound(page)
    await page.getByRole('button', { name: /^Adviser \(\d+\)$/ }).click()
    await page.getByText(/^[1-9]\d* match(es)? now$/).waitFor()
    assert.equal(await page.getByLabel('Value').first().inputValue(), 'Adviser')
    assert.equal(await page.getByRole('button', { name: 'Review and save' }).isDisabled(), true)
    await page.getByRole('button', { name: /^\d+: Who matches$/ }).click()
    await page
      .getByRole('dialog')
      .getByRole('row', { name: /Emil Øvrebø/ })
      .waitFor()
    await assertSound(page)
  })

  journey(fixture, 'says at each line whether it is true for a person, and what can never be true', async (fixture) => {
    const page = await fixture().openAs('admin', '/collections/new')
    await page.getByLabel('Attribute').fill('relationshipTitle')
    await page.getByLabel('Value').fill('Adviser')
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Attribute').last().fill('relationshipTitle')
    await page.getByLabel('Value').last().fill('Teacher')
    await page.getByText('This can never be true.').waitFor()
    await page.getByLabel('Whom to try it with').fill('emil øv')
    await page.getByRole('button', { name: 'Emil Øvrebø' }).click()
    await page.getByText('Does not match').waitFor()
    const lines = page.locator('.leaf')
    await lines.first().getByText('True', { exact: true }).waitFor()
    await lines.last().getByText('False', { exact: true }).waitFor()
    await assertSound(page)
    await page.getByLabel('How the conditions combine').selectOption('At least one of these')
    await page.getByText('Matches', { exact: true }).waitFor()
  })

  journey(fixture, 'chooses a unit from the tree of units', async (fixture) => {
    const page = await fixture().openAs('admin', '/collections/new')
    await page.getByLabel('Attribute').fill('orgUnitWithAncestors')
    await page.getByRole('button', { name: 'Choose from the tree' }).click()
    const tree = page.getByRole('dialog', { name: 'Choose a unit' })
    await tree
      .getByRole('button', { name: /^Units below / })
      .first()
      .click()
    await assertSound(page)
    const below = tree.locator('.tree .tree .link').first()
    const name = await below.textContent()
    await below.click()
    await page.getByText(`Unit or below is ${name}`).waitFor()
    await page.getByText(/^[1-9]\d* match(es)? now$/).waitFor()
  })

  journey(fixture, 'makes lines about any position and about two attributes, and keeps them', async (fixture) => {
    const page = await fixture().openAs('admin', '/collections/new')
    await page.getByLabel('Name', { exact: true }).fill('New forms')
    await page.getByLabel('Attribute').fill('relationshipTitle')
    await page.getByLabel('Value').fill('Adviser')
    await page.getByRole('button', { name: 'More options of the condition' }).click()
    await assertSound(page)
    await page.getByRole('button', { name: 'Look at any position of the person' }).click()
    await page.getByRole('button', { name: 'Add a condition' }).last().click()
    await page.getByLabel('Attribute').last().fill('identityId')
    await page.getByLabel('Operator').last().selectOption('is not')
    await page.getByRole('button', { name: 'More options of the condition' }).last().click()
    await page.getByLabel('Compare with another attribute').check()
    await page.getByRole('combobox', { name: 'Other attribute' }).fill('relationshipManager')
    await page.getByText('In any position Position: title is Adviser and Person: id is not Position: manager').waitFor()
    await assertSound(page)
    await reviewAndSave(page)
    await heading(page, 'New forms').waitFor()
    const id = page.url().split('/').at(-1)
    const { condition } = await fixture().call<Condition>('admin', 'GET', `/collections-criteria/beta/${id}`)
    assert.deepEqual(condition.conditions, [
      { groupOperator: 'AND', over: 'AnyPosition', conditions: [leaf('relationshipTitle', 'Equals', 'Adviser')] },
      leaf('identityId', 'NotEquals', { attribute: 'relationshipManager' }),
    ])
  })

  journey(fixture, 'has a sound builder, plan and audit in Norwegian, dark and on a phone', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'Smal', [leaf('relationshipTitle', 'Equals', 'Teacher')])
    const options = { locale: 'nb-NO', colorScheme: 'dark', viewport: { width: 360, height: 740 } } as const
    const page = await fixture().openAs('admin', `/collections/${id}/edit`, options)
    await page.getByText('Stilling: tittel er Teacher').waitFor()
    await page.getByRole('button', { name: 'Flere valg for betingelsen' }).click()
    await assertSound(page)
    await page.getByLabel('Verdi').fill('Adviser')
    await page.getByRole('button', { name: 'Se over og lagre' }).click()
    await page.getByRole('button', { name: /^Lagre og fjern [1-9]/ }).click()
    await page.getByText('Smal ble lagret for litt siden.').waitFor()
    await page.getByRole('link', { name: 'Logg' }).click()
    await page.getByRole('link', { name: 'Gjenopprett denne versjonen' }).waitFor()
    await assertSound(page)
    assert.ok(await page.evaluate('document.documentElement.scrollWidth <= 360'))
  })

  journey(fixture, 'takes a condition as text, and refuses another text', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'As text', [leaf('relationshipTitle', 'Equals', 'Teacher')])
    const page = await fixture().openAs('admin', `/collections/${id}/edit`)
    await page.getByText('Condition as text').first().click()
    const text = page.getByLabel('Condition as text')
    assert.match(await text.inputValue(), /"value": "Teacher"/)
    await text.fill('{"groupOperator":"AND"}')
    await page.getByText('This text is not a condition.').waitFor()
    await assertSound(page)
    const condition = { groupOperator: 'OR', conditions: [leaf('relationshipTitle', 'Equals', 'Adviser')] }
    await text.fill(JSON.stringify(condition))
    await page.getByRole('button', { name: 'Use this text' }).click()
    await page.getByText('Position: title is Adviser').waitFor()
    await page.getByText(/^[1-9]\d* will leave$/).waitFor()
  })
}
