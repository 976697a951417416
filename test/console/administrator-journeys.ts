import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { accessibilityFaults, type ConsoleFixture, type ConsolePage } from '../support/console/console-browser.ts'
import {
  assertSound,
  createCollection,
  criteriaCollection,
  focused,
  heading,
  journey,
  leaf,
  linkTo,
  menu,
  reviewAndSave,
} from '../support/console/console-steps.ts'
import { eventually } from '../support/journeys/demo-clients.ts'
import type { StartedEnvironment } from '../support/journeys/started-environment.ts'

/** Journeys of an administrator of collections and links. */
export function administratorJourneys(fixture: () => ConsoleFixture): void {
  journey(
    fixture,
    'lets an administrator define a collection, see who matches, and read its members',
    async (fixture) => {
      const page = await fixture().openAs('admin', '/collections/new')
      await page.getByText('The condition is not complete.').waitFor()
      await assertSound(page)
      await createCollection(page, 'All teachers', 'Teacher')
      await page.getByRole('status').getByText('All teachers is saved.').waitFor()
      await page.getByRole('cell', { name: 'Has an account' }).first().waitFor()
      await assertSound(page)
      await page.getByRole('link', { name: 'Condition' }).click()
      await page.getByText('Position: title').waitFor()
      await page.getByRole('link', { name: 'Edit' }).click()
      await page.getByLabel('Operator').selectOption('In')
      await page.getByLabel('Values, one per line').fill('Teacher\nNurse')
      await page.getByText(/^[1-9]\d* will join$/).waitFor()
      await reviewAndSave(page)
      await heading(page, 'All teachers').waitFor()
      await page.getByRole('link', { name: 'Condition' }).click()
      await page.getByText('is one of').waitFor()
      await assertSound(page)
    },
  )

  journey(
    fixture,
    'tells from the start page why somebody is in a group, and why somebody else is not',
    async (fixture) => {
      const id = await criteriaCollection(fixture(), 'Explained', [leaf('relationshipTitle', 'Equals', 'Adviser')])
      await linkTo(fixture(), id, 'Demo security-2')
      const page = await fixture().openAs('admin')
      await menu(page, 'Linked groups').click()
      await page.getByRole('link', { name: 'Demo security-2' }).click()
      await page.getByRole('cell', { name: 'Succeeded' }).waitFor()
      await page.getByRole('link', { name: 'Explained' }).click()
      await page
        .getByRole('row', { name: /Emil Øvrebø/ })
        .getByRole('button', { name: 'Why?' })
        .click()
      await page.getByRole('dialog').getByText('Value: Adviser').first().waitFor()
      await page.getByRole('listitem').filter({ hasText: 'Demo security-2' }).getByText('Written').waitFor()
      await assertSound(page)
      await page.getByRole('button', { name: 'Close' }).click()
      await page.getByLabel('Find a person by name').fill('aprilla')
      await page.getByRole('button', { name: 'Aprilla Grøndahl' }).click()
      await page.getByRole('dialog').getByText('Not a member').waitFor()
      await page.getByText('Value: Head of Archive').waitFor()
    },
  )

  journey(
    fixture,
    'shows before saving what a condition would do to collections and groups, and warns',
    async (fixture) => {
      const id = await criteriaCollection(fixture(), 'Planned', [leaf('relationshipTitle', 'Contains', 'Teacher')])
      await linkTo(fixture(), id, 'Demo security-6')
      const page = await fixture().openAs('admin', `/collections/${id}/edit`)
      await page.getByText('match now').waitFor()
      await page.getByLabel('Value').fill('No such title')
      await page.getByText('Nobody matches.').waitFor()
      await page.getByRole('button', { name: 'Review and save' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('Nobody matches.').waitFor()
      await dialog.getByRole('row', { name: /^Planned \+0 −[1-9]\d*/ }).waitFor()
      await dialog.getByRole('row', { name: /^Demo security-6 \+0 −[1-9]\d*/ }).waitFor()
      await assertSound(page)
      await dialog.getByRole('button', { name: 'Back to editing' }).click()
      await page.getByLabel('Value').fill('Teacher')
      await page.getByLabel('Description').fill('Only the description')
      await page.getByRole('button', { name: 'Review and save' }).click()
      await dialog.getByText('No member and no group changes.').waitFor()
      await dialog.getByRole('button', { name: 'Save', exact: true }).click()
      await page.getByText('Planned is saved.').waitFor()
    },
  )

  journey(
    fixture,
    'shows the current effect when it has changed since the review, and saves nothing before',
    async (fixture) => {
      const id = await criteriaCollection(fixture(), 'Overtaken', [leaf('relationshipTitle', 'Equals', 'Archivist')])
      const page = await fixture().openAs('admin', `/collections/${id}/edit`)
      await page.getByLabel('Value').fill('Nurse')
      let isPlanned = false
      await page.route(`**/collections-criteria/beta/${id}`, (route) => {
        if (route.request().method() !== 'PUT' || isPlanned) return route.continue()
        isPlanned = true
        return route.fulfill({ status: 409, json: { data: null, errors: [{ code: 'PlanChanged', message: '' }] } })
      })
      await reviewAndSave(page)
      await page.getByRole('dialog').getByText('The effect has changed since you looked at it.').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click()
      await page.getByText('Overtaken is saved.').waitFor()
    },
  )

  journey(fixture, 'shows how the members have changed, why, and who they were before', async (fixture) => {
    const title = (value: string) => [leaf('relationshipTitle', 'Contains', value)]
    const id = await criteriaCollection(fixture(), 'Changing', title('Teacher'))
    const page = await fixture().openAs('admin', `/collections/${id}`)
    await page.getByText(/^[1-9]\d* members$/).waitFor()
    // The field has whole seconds, in the time zone of the tenant: the first one after the members were evaluated.
    const before = new Date(Date.now() + 1000).toISOString().slice(0, 19)
    await sleep(1000)
    const condition = { groupOperator: 'AND', conditions: title('Archivist') }
    const body = { objectType: 'Relationship', condition }
    await fixture().call('admin', 'PUT', `/collections-criteria/beta/${id}`, body)
    const removed = page.getByRole('row', { name: /Teacher .* Removed Definition changed Ada Åsheim/ }).first()
    await eventually('the change is evaluated', async () => {
      const path = `/collections/beta/${id}/history`
      const entries = await fixture().call<{ change: string }[]>('admin', 'GET', path)
      return entries.some((entry) => entry.change === 'Removed') || undefined
    })
    await page.getByRole('link', { name: 'History' }).click()
    await removed.waitFor()
    await page.getByRole('row', { name: /Kolbjørn Dåvik, Archivist .* Added/ }).waitFor()
    await page.getByRole('img', { name: 'Number of members over time' }).waitFor()
    await assertSound(page)
    await page.getByLabel('Time', { exact: true }).fill(before)
    await page
      .getByRole('listitem')
      .filter({ hasText: /Teacher$/ })
      .first()
      .waitFor()
    await page.getByLabel('Time', { exact: true }).fill('2020-01-01T12:00:00')
    await page.getByText('The members at that time are not kept.').waitFor()
    await assertSound(page)
  })

  journey(fixture, 'tells who did what to a collection, with the values before and after', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'Audited', [leaf('relationshipTitle', 'Equals', 'Teacher')])
    const condition = { groupOperator: 'AND', conditions: [leaf('memberOfCollection', 'Equals', id)] }
    const other = { objectType: 'Relationship', name: 'Refers to Audited', condition }
    const otherId = await fixture().call<string>('admin', 'POST', '/collections-criteria/beta', other)
    const change = {
      objectType: 'Relationship',
      name: 'Still refers',
      condition: { ...condition, groupOperator: 'NOT' },
    }
    await fixture().call('admin', 'PUT', `/collections-criteria/beta/${otherId}`, change)
    const page = await fixture().openAs('admin', `/collections/${otherId}`)
    await page.getByRole('link', { name: 'Audit' }).click()
    await page.getByRole('row', { name: /Created Ada Åsheim/ }).waitFor()
    await assertSound(page)
    const changed = page.getByRole('row', { name: /Changed Ada Åsheim Name, Condition/ })
    await changed.getByRole('button', { name: 'Details' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('None of these').waitFor()
    await dialog.getByText('All of these').waitFor()
    await dialog.getByText('Still refers').waitFor()
    assert.equal(await dialog.getByText('Audited', { exact: true }).count(), 2)
    await assertSound(page)
  })

  journey(
    fixture,
    'makes a collection of a job title in one unit, links a group after showing the change, and shows its sync',
    async (fixture) => {
      const page = await fixture().openAs('admin', '/collections')
      await page.getByRole('link', { name: 'New collection by condition' }).click()
      await page.getByLabel('Name', { exact: true }).fill('Linked')
      await page.getByLabel('Attribute').fill('position: title')
      await page.getByLabel('Value').fill('Adviser')
      await page.getByRole('button', { name: 'Add a condition' }).click()
      await page.getByLabel('Attribute').last().fill('relationshipOrgUnit')
      await page.getByLabel('Find a unit by name').fill('service')
      await page.getByRole('button', { name: 'Service Desk', exact: true }).click()
      await page.getByText('Emil Øvrebø').waitFor()
      await reviewAndSave(page)
      await page.getByRole('navigation', { name: 'Linked' }).getByRole('link', { name: 'Linked groups' }).click()
      await page.getByText(/^No group is linked/).waitFor()
      await assertSound(page)
      await page.getByRole('link', { name: 'Link a group' }).click()
      await page.getByRole('searchbox').fill('Demo')
      await page
        .getByRole('cell', { name: 'The directory itself decides on the members of this group by a rule.' })
        .first()
        .waitFor()
      const row = page.getByRole('row', { name: /^Demo security-1 / })
      await row.getByRole('button', { name: 'Choose' }).click()
      await page.getByText(/accounts? (is|are) added/).waitFor()
      await assertSound(page)
      await page.getByRole('button', { name: 'Link the group' }).click()
      await heading(page, 'Demo security-1').waitFor()
      await page.getByRole('cell', { name: 'Succeeded' }).waitFor()
      await page.getByRole('img', { name: /^Accounts added and removed/ }).waitFor()
      await assertSound(page)
      await page
        .getByRole('row', { name: /Link created/ })
        .getByRole('link')
        .click()
      await heading(page, /^Sync of /).waitFor()
      await assertSound(page)
      await menu(page, 'Linked groups').click()
      await page.getByRole('row', { name: /Demo security-1 Linked In sync Succeeded/ }).waitFor()
      await assertSound(page)
    },
  )

  journey(fixture, 'shows first that a sync failed, and why', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'Failing', [leaf('relationshipTitle', 'Equals', 'Nurse')])
    await makeDynamic(fixture().environment, await linkTo(fixture(), id, 'Demo security-5'))
    await fixture().call('admin', 'POST', `/group-link/beta/group-links/${id}/sync`)
    await eventually('the sync has failed', async () => {
      const path = `/group-link/beta/group-links?collectionId=${id}`
      const [link] = await fixture().call<{ syncState: string }[]>('admin', 'GET', path)
      return link?.syncState === 'Failed' || undefined
    })
    const page = await fixture().openAs('admin')
    await menu(page, 'Linked groups').click()
    const failed = page.getByRole('row', { name: /Demo security-5 Failing Failed Failed/ })
    await page.getByLabel('State').selectOption('Needs attention')
    await failed.getByRole('link', { name: 'Demo security-5' }).click()
    await page.getByText('The last sync failed after 1 attempt.').waitFor()
    await page.getByText(/by a dynamic membership rule/).waitFor()
    await assertSound(page)
  })

  journey(fixture, 'shows removals that are held, with names, and removes them after an approval', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'Nobody', [leaf('relationshipTitle', 'Equals', 'No such title')])
    const page = await fixture().openAs('admin', `/links/new/${id}`)
    await page.getByRole('searchbox').fill('Demo populated')
    await page.getByRole('button', { name: 'Choose' }).click()
    await page.getByText('accounts are removed').waitFor()
    await page.getByRole('button', { name: 'Link the group' }).click()
    await page
      .getByRole('dialog')
      .getByText(/^(\d+) of \1 members \(100 %\) of the group Demo populated/)
      .waitFor()
    await page.getByRole('button', { name: /^Link and remove [1-9]/ }).click()
    await page.getByText(/removals are held: the collection is empty/).waitFor()
    const other = await fixture().openAs('collectionsAdmin')
    await menu(other, 'Linked groups').click()
    await other
      .getByRole('row', { name: /Demo populated Nobody .* [1-9]\d*$/ })
      .getByRole('link', { name: 'Demo populated' })
      .click()
    await other.getByRole('cell', { name: 'No known person' }).first().waitFor()
    await assertSound(other)
    await other.getByRole('button', { name: 'Approve these removals' }).click()
    await showOtherPlan(other)
    await other.getByText('999 removals are held: the collection is empty').waitFor()
    await other.unroute(LINK)
    // The service has the plan that was asked about, so that it does not refuse.
    await other.getByRole('dialog').getByRole('button', { name: 'Approve these removals' }).click()
    await other.getByRole('row', { name: /Started by hand Succeeded 0 [1-9]\d* 0 0/ }).waitFor()
    await other.getByText(/removals are held/).waitFor({ state: 'detached' })
    await other.getByText('accounts were removed from the group.').waitFor()
    assert.deepEqual(other.reported, [])
    // The page of the first person follows by itself.
    await page.getByText(/removals are held/).waitFor({ state: 'detached' })
  })

  journey(fixture, 'changes the settings that protect groups, and refuses an impossible one', async (fixture) => {
    const page = await fixture().openAs('collectionsAdmin', '/settings')
    await page.getByLabel('Limit in percent of the group').fill('200')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').getByText('This value is not possible here.').waitFor()
    await page.getByLabel('Limit in percent of the group').fill('30')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Saved.').waitFor()
    // The browser gives a number that cannot be read as an empty text.
    await page.getByLabel('Limit in percent of the group').focus()
    await page.keyboard.press('End')
    await page.keyboard.type('-')
    await page.getByRole('button', { name: 'Save' }).click()
    assert.equal(await focused(page), 'Limit in percent of the group')
    await page.getByLabel('Limit in percent of the group').fill('30')
    await page.getByLabel('Removals that are always allowed within 24 hours').fill('')
    await page.getByRole('button', { name: 'Save' }).click()
    assert.equal(await focused(page), 'Removals that are always allowed within 24 hours')
    const saved = page.getByRole('row', { name: /Settings changed/ })
    await saved.getByRole('button', { name: 'Details' }).click()
    await page.getByRole('dialog').getByText('Limit in percent of the group: 30').waitFor()
    await page.reload()
    await page.getByLabel('Limit in percent of the group').waitFor()
    assert.equal(await page.getByLabel('Limit in percent of the group').inputValue(), '30')
    assert.equal(await page.getByLabel('Removals that are always allowed within 24 hours').inputValue(), '10')
    assert.deepEqual(await accessibilityFaults(page), [])
  })

  journey(
    fixture,
    'creates a joinable collection with approvers found by name, and adds and removes a member',
    async (fixture) => {
      const page = await fixture().openAs('collectionsAdmin', '/collections/new-joinable')
      await page.getByLabel('Name', { exact: true }).fill('Book club')
      await page.getByRole('button', { name: 'Add a step' }).click()
      await page.getByLabel('Add an approver by name').fill('grøndahl')
      await page.getByRole('button', { name: 'Aprilla Grøndahl' }).click()
      await page.getByLabel('Only members of').fill('no such collection')
      await page.getByText('Nothing found.').waitFor()
      await assertSound(page)
      await page.getByRole('button', { name: 'Save' }).click()
      await heading(page, 'Book club').waitFor()
      await page.getByText('Aprilla Grøndahl').waitFor()
      await assertSound(page)
      await page.getByRole('link', { name: 'Members' }).click()
      await page.getByText('The collection has no members yet.').waitFor()
      await page.getByRole('button', { name: 'Add people' }).click()
      await page.getByRole('dialog').getByLabel('Find a person by name').fill('emil øv')
      await page.getByRole('dialog').getByRole('button', { name: 'Emil Øvrebø' }).click()
      await assertSound(page)
      await page.getByRole('button', { name: 'Add 1' }).click()
      await page.getByText('1 added, 0 were members already.').waitFor()
      const member = page.getByRole('row', { name: /Emil Øvrebø/ })
      await member.getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
      await page.getByText('Emil Øvrebø is not a member any more.').waitFor()
      await page.getByRole('link', { name: 'Requests' }).click()
      await page
        .getByRole('row', { name: /Emil Øvrebø .*Left/ })
        .getByRole('button', { name: 'Details' })
        .click()
      await page.getByRole('dialog').getByText('Left').waitFor()
      await assertSound(page)
    },
  )
}

const LINK = '**/group-link/beta/group-links/*'

/** Shows the view another plan of removals than the service has. */
async function showOtherPlan(page: ConsolePage): Promise<void> {
  await page.route(LINK, async (route) => {
    const response = await route.fetch()
    const { data, ...rest } = (await response.json()) as { data: { heldRemovals: object } }
    const heldRemovals = { ...data.heldRemovals, planId: randomUUID(), count: 999 }
    await route.fulfill({ response, json: { ...rest, data: { ...data, heldRemovals } } })
  })
}

/** Gives the group a rule in the directory, so that no sync can write it. */
async function makeDynamic({ directory, demo }: StartedEnvironment, groupId: string): Promise<void> {
  const tenant = demo.tenants[0]
  const tester = tenant?.apps.find(({ name }) => name === 'tester')
  const { json } = await directory('POST', `/${tenant?.tenantId}/oauth2/v2.0/token`, {
    form: {
      grant_type: 'client_credentials',
      client_id: tester?.clientId ?? '',
      client_secret: tester?.clientSecret ?? '',
      scope: 'https://graph.microsoft.com/.default',
    },
  })
  const { status } = await directory('PATCH', `/v1.0/groups/${groupId}`, {
    token: (json as { access_token: string }).access_token,
    json: { groupTypes: ['DynamicMembership'], membershipRule: 'user.city -eq "Oslo"' },
  })
  assert.equal(status, 204)
}
