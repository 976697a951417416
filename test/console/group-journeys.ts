import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import type { ConsoleFixture, ConsolePage } from '../support/console/console-browser.ts'
import {
  assertSound,
  change,
  countedSteps,
  criteriaCollection,
  heading,
  journey,
  leaf,
  linkTo,
  linkToNew,
  press,
  reviewAndSave,
  synced,
} from '../support/console/console-steps.ts'

const WITH_ACCOUNT = { groupOperator: 'NOT', conditions: [leaf('identityDirectoryObjectId', 'IsNull')] }
const NOBODY = leaf('relationshipTitle', 'Equals', 'No such title')

/** Journeys about what is true of a group: removals that wait, who is behind numbers, and how to go back. */
export function groupJourneys(fixture: () => ConsoleFixture): void {
  journey(
    fixture,
    'undoes in two steps a mistake whose removals are held, and says what the mistake was',
    async (fixture) => {
      const { collectionId, linkId } = await syncedLink(fixture(), 'Everybody', 'Demo security-3', [WITH_ACCOUNT])
      await change(fixture(), collectionId, [NOBODY])
      const page = await fixture().openAs('admin', `/links/${linkId}`)
      await page.getByText(/[1-9]\d* removals are held: more than/).waitFor()
      await page.getByText('Definition changed: Ada Åsheim').waitFor()
      await page.getByText('Position: title is No such title').waitFor()
      await page.getByRole('searchbox').fill('emil')
      await page.getByRole('row', { name: /Emil Øvrebø Adviser/ }).waitFor()
      await assertSound(page)
      const { step, count } = countedSteps()
      await step(page.getByRole('link', { name: 'Undo the change that caused this' }).click())
      await step(page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click())
      assert.equal(count(), 2)
      await heading(page, 'Everybody').waitFor()
      await page.getByText('Everybody is saved.').waitFor()
      const link = await fixture().openAs('admin', `/links/${linkId}`)
      await link.getByText('In sync').waitFor()
      assert.equal(await link.getByText(/removals are held/).count(), 0)
    },
  )

  journey(fixture, 'rejects held removals, undoes their cause, and approves others by keyboard', async (fixture) => {
    const collectionId = await criteriaCollection(fixture(), 'Typed', [WITH_ACCOUNT])
    const linkId = await linkToNew(fixture(), collectionId, 'Without a mouse, held')
    await synced(fixture(), collectionId)
    await change(fixture(), collectionId, [NOBODY])
    const page = await fixture().openAs('admin', `/links/${linkId}`)
    await page.getByText(/removals are held: more than/).waitFor()
    await press(page, 'Reject these removals')
    await page.getByRole('dialog').waitFor()
    await press(page, 'Reject these removals')
    await page.getByText(/^Rejected by Ada Åsheim/).waitFor()
    await assertSound(page)
    await press(page, 'Undo the change that caused this')
    await page
      .getByRole('dialog')
      .getByText('No member and no group changes.')
      .or(page.getByRole('row'))
      .first()
      .waitFor()
    await press(page, 'Save')
    await heading(page, 'Typed').waitFor()
    await synced(fixture(), collectionId)
    await change(fixture(), collectionId, [NOBODY])
    const again = await fixture().openAs('admin', `/links/${linkId}`)
    await again.getByText(/removals are held: more than/).waitFor()
    await press(again, 'Approve these removals')
    await again.getByRole('dialog').waitFor()
    await press(again, 'Approve these removals')
    await again.getByText('accounts were removed from the group.').waitFor()
    await assertSound(again)
    await again
      .getByRole('row', { name: /Started by hand Succeeded/ })
      .getByRole('link')
      .first()
      .click()
    const approver = again.locator('dl > div').filter({ hasText: 'Removals approved by' })
    await approver.getByText('Ada Åsheim').waitFor()
  })

  journey(
    fixture,
    'names the people behind the numbers of a plan, finds one of them, and saves the list',
    async (fixture) => {
      const { collectionId } = await syncedLink(fixture(), 'Counted', 'Demo security-4', [
        WITH_ACCOUNT,
        leaf('relationshipTitle', 'Contains', 'e'),
      ])
      const page = await fixture().openAs('admin', `/collections/${collectionId}/edit`)
      await page.getByText(/match now$/).waitFor()
      await page.getByLabel('Value', { exact: true }).last().fill('Adviser')
      await page.getByText(/^[1-9]\d* will leave$/).waitFor()
      await page.getByRole('button', { name: 'Review and save' }).click()
      const plan = page.getByRole('dialog', { name: 'What saving changes' })
      await plan.getByRole('button', { name: /^Save and remove [1-9]\d*$/ }).waitFor()
      await plan.getByRole('button', { name: /^−[1-9]\d*: Accounts removed$/ }).click()
      const people = page.getByRole('dialog', { name: 'Accounts removed' })
      await people.getByRole('row', { name: /Aprilla Grøndahl Head of Archive/ }).waitFor()
      await assertSound(page)
      await people.getByRole('searchbox').fill('grøndahl')
      await people.getByText(/^1 of [1-9]\d*$/).waitFor()
      assert.equal(await people.getByRole('row').count(), 2)
      assert.match(
        await savedCsv(page),
        /^\ufeff"Name","Title","Unit","Account"\r\n(.*\r\n)*"Aprilla Grøndahl","Head of Archive"/,
      )
      await page.keyboard.press('Escape')
      await people.waitFor({ state: 'detached' })
      assert.equal(await plan.count(), 1)
      await plan.getByRole('button', { name: /^−[1-9]\d*: Leave$/ }).click()
      await page
        .getByRole('dialog', { name: 'Leave' })
        .getByRole('row', { name: /Aprilla Grøndahl/ })
        .waitFor()
    },
  )

  journey(fixture, 'names what a sync wrote', async (fixture) => {
    const { linkId } = await syncedLink(fixture(), 'Written', 'Demo owned', [
      leaf('relationshipTitle', 'Equals', 'Adviser'),
    ])
    const page = await fixture().openAs('admin', `/links/${linkId}`)
    await page
      .getByRole('row', { name: /Link created/ })
      .getByRole('link')
      .click()
    await page.getByRole('button', { name: /^[1-9]\d*: Added$/ }).click()
    const people = page.getByRole('dialog', { name: 'Added' })
    await people.getByRole('row', { name: /Emil Øvrebø Adviser Service Desk/ }).waitFor()
    await assertSound(page)
  })

  journey(fixture, 'restores an earlier version from the audit, and offers to undo what was saved', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'Restored', [leaf('relationshipTitle', 'Equals', 'Teacher')])
    await change(fixture(), id, [leaf('relationshipTitle', 'Equals', 'Adviser')])
    const page = await fixture().openAs('admin', `/collections/${id}/audit`)
    const rows = page.getByRole('row', { name: /Ada Åsheim/ })
    await rows.getByRole('link', { name: 'Restore this version' }).waitFor()
    await assertSound(page)
    await rows.getByRole('link', { name: 'Restore this version' }).click()
    await heading(page, /^Restore the version of /).waitFor()
    const plan = page.getByRole('dialog')
    await plan.getByRole('button', { name: /^\+[1-9]\d*: Join$/ }).waitFor()
    await assertSound(page)
    await plan.getByRole('button', { name: /^Save/ }).click()
    await page.getByText('Restored was saved a moment ago.').waitFor()
    await assertSound(page)
    await page.getByRole('link', { name: 'Undo' }).click()
    await page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click()
    await page.getByText('Restored was saved a moment ago.').waitFor()
    const { condition } = await fixture().call<{ condition: { conditions: { value: string }[] } }>(
      'admin',
      'GET',
      `/collections-criteria/beta/${id}`,
    )
    assert.equal(condition.conditions[0]?.value, 'Adviser')
  })

  journey(fixture, 'offers for ten minutes to undo what was saved, and no longer', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'Undoable', [leaf('relationshipTitle', 'Equals', 'Teacher')])
    const page = await fixture().openAs('admin', `/collections/${id}/edit`)
    await page.clock.install()
    await page.getByLabel('Value').fill('Nurse')
    await reviewAndSave(page)
    const offer = page.getByText('Undoable was saved a moment ago.')
    await offer.waitFor()
    await page.clock.fastForward('09:30')
    await heading(page, 'Undoable').waitFor()
    assert.equal(await offer.isVisible(), true)
    await page.clock.fastForward('00:30')
    await offer.waitFor({ state: 'detached' })
  })

  journey(fixture, 'restores an earlier policy of a joinable collection', async (fixture) => {
    const joinPolicy = { approvalRequired: false, approvalGates: [] }
    const path = '/collections-joinable/beta'
    const body = { objectType: 'Identity', name: 'Open to all', joinPolicy }
    const id = await fixture().call<string>('admin', 'POST', path, body)
    await fixture().call('admin', 'PUT', `${path}/${id}`, { ...body, name: 'Renamed' })
    const page = await fixture().openAs('admin', `/collections/${id}/audit`)
    await page.getByRole('link', { name: 'Restore this version' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await heading(page, 'Open to all').waitFor()
    await page.getByText('Open to all was saved a moment ago.').waitFor()
  })

  journey(fixture, 'says who keeps others from being removed, and leaves them out of the link', async (fixture) => {
    const unit = leaf('identityDirectoryObjectId', 'IsNull')
    const { collectionId, linkId } = await syncedLink(fixture(), 'Some without', 'Demo unified', [
      { groupOperator: 'OR', conditions: [unit, leaf('relationshipTitle', 'Equals', 'Adviser')] },
    ])
    await change(fixture(), collectionId, [unit])
    const page = await fixture().openAs('admin', `/links/${linkId}`)
    await page.getByText(/^Removals paused: [1-9]\d* members? ha(s|ve) no account\.$/).waitFor()
    await assertSound(page)
    // As of a link that leaves out 99 others.
    await page.route(`**/group-links/${linkId}`, async (route) => {
      const response = await route.fetch()
      const { data, ...rest } = (await response.json()) as { data: { pausedBy: object } }
      const members = [1, 2].map(() => ({ identityId: randomUUID(), displayName: null, directoryObjectId: null }))
      const acceptedWithoutAccount = Array.from({ length: 99 }, () => randomUUID())
      const full = { ...data, acceptedWithoutAccount, pausedBy: { ...data.pausedBy, members } }
      await route.fulfill({ response, json: { ...rest, data: full } })
    })
    await page.reload()
    await page.getByRole('button', { name: 'Leave them out of this link' }).click()
    const limit = 'A link can leave out at most 100 members: 1 of these still counts.'
    await page
      .getByRole('dialog')
      .getByText(new RegExp(`^1 member without an account .* ${limit}$`))
      .waitFor()
    await page.unroute(`**/group-links/${linkId}`)
    await page.reload()
    await page.getByRole('button', { name: 'Leave them out of this link' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Leave them out of this link' }).click()
    await heading(page, 'Demo unified').waitFor()
    await page.getByRole('heading', { name: 'Left out of this link' }).waitFor()
    await page.getByText(/^Removals paused: [1-9]/).waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Count again' }).first().waitFor()
    await assertSound(page)
  })
}

/** A linked collection whose first sync has ended. */
export async function syncedLink(
  fixture: ConsoleFixture,
  name: string,
  groupName: string,
  conditions: readonly object[],
): Promise<{ readonly collectionId: string; readonly linkId: string }> {
  const collectionId = await criteriaCollection(fixture, name, conditions)
  await linkTo(fixture, collectionId, groupName)
  return { collectionId, linkId: await synced(fixture, collectionId) }
}

/** The file that the open list of people is saved as. */
async function savedCsv(page: ConsolePage): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as CSV' }).click(),
  ])
  return readFileSync(await file.path(), 'utf8')
}
