import assert from 'node:assert/strict'
import type { ConsoleFixture, ConsolePage } from '../support/console/console-browser.ts'
import { assertNarrow, assertSound, countedSteps, heading, journey, menu } from '../support/console/console-steps.ts'

const JOINABLE = '/collections-joinable/beta'
const REQUESTS = `${JOINABLE}/membership-requests`
const PHONE = { viewport: { width: 360, height: 740 }, colorScheme: 'dark' } as const

/** A phone, a tablet and a desktop. */
const WIDTHS = [360, 768, 1280] as const

/** The overview, decisions, own memberships, and what a person has. */
export function accessJourneys(fixture: () => ConsoleFixture): void {
  journey(fixture, 'decides on three requests on a phone with four taps', async (fixture) => {
    const ids = await Promise.all(['Boat', 'Kayak', 'Canoe'].map((name) => approvedByManager(fixture(), name)))
    for (const id of ids) await fixture().call('colleague', 'POST', `${REQUESTS}/${id}/submit`, {})
    const page = await fixture().openAs('manager', '/inbox', PHONE)
    const { step, count } = countedSteps()
    for (const name of ['Boat', 'Kayak', 'Canoe']) {
      await step(page.getByRole('checkbox', { name: new RegExp(`Kolbjørn Dåvik, ${name}`) }).click())
    }
    const approve = page.getByRole('button', { name: 'Approve 3' })
    assert.equal(await isInWindow(page, 'Approve 3'), true)
    await assertNarrow(page, 360)
    await assertSound(page)
    await step(approve.click())
    assert.equal(count(), 4)
    await page.getByText('3 requests are approved.').waitFor()
    await page.getByText('Boat').waitFor({ state: 'detached' })
    for (const id of ids) assert.equal((await statuses(fixture(), id))[0], 'Joined')
  })

  journey(fixture, 'shows who asks, and asks for a reason where a rejection needs one', async (fixture) => {
    const id = await approvedByManager(fixture(), 'Sauna', { rejectionNeedsReason: true }, 'Warm on Fridays')
    await fixture().call('employee', 'POST', `${REQUESTS}/${id}/submit`, { notes: 'Cold' })
    const page = await fixture().openAs('manager', '/inbox', PHONE)
    await page
      .getByRole('row', { name: /Emil Øvrebø Adviser, Service Desk .*Sauna .*Warm on Fridays/ })
      .getByRole('link')
      .click()
    await page.getByText('Warm on Fridays').waitFor()
    await page.getByText('Magnhild Førde-Lie').first().waitFor()
    assert.equal(await isInWindow(page, 'Reject'), true)
    await page.getByRole('button', { name: 'Reject' }).click()
    const dialog = page.getByRole('dialog')
    assert.equal(await dialog.getByRole('button', { name: 'Reject' }).isDisabled(), true)
    await dialog.getByLabel('Reason, which the requester reads').fill('Too warm')
    await assertSound(page)
    await dialog.getByRole('button', { name: 'Reject' }).click()
    await page.getByText('The request of Emil Øvrebø is rejected.').waitFor()
    assert.deepEqual(await statuses(fixture(), id), ['Rejected'])
  })

  journey(fixture, 'shows an approver why a membership is to last longer, and why it began', async (fixture) => {
    const id = await approvedByManager(fixture(), 'Cabin', { maxDays: 30 })
    const [soon, later] = [3, 20].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10))
    const ask = (path: string, body: object) =>
      fixture().call<{ id: string }>('employee', 'POST', `${REQUESTS}/${id}/${path}`, body)
    const request = await ask('submit', { endsAt: soon, notes: 'Holiday' })
    await fixture().call('manager', 'POST', `${REQUESTS}/${id}/${request.id}/approve`, {})
    await ask(`${request.id}/extend`, { endsAt: later, notes: 'Snowed in' })
    const page = await fixture().openAs('manager', '/inbox', PHONE)
    const row = page.getByRole('row', { name: /Emil Øvrebø .*Cabin .*Snowed in/ })
    await row.getByRole('link').click()
    const details = page.getByRole('definition')
    await details.filter({ hasText: 'Snowed in' }).waitFor()
    assert.equal(await details.filter({ hasText: 'Holiday' }).count(), 0)
    await page.getByRole('listitem').filter({ hasText: 'Holiday' }).waitFor()
    await assertSound(page)
  })

  journey(
    fixture,
    'tells a member who decides and until when, extends and leaves where it is shown',
    async (fixture) => {
      const name = 'Parking'
      const body = { objectType: 'Identity', name, joinPolicy: { approvalRequired: false, maxDays: 30 } }
      const id = await fixture().call<string>('admin', 'POST', JOINABLE, body)
      const waiting = await approvedByManager(fixture(), 'Garage')
      const soon = new Date(Date.now() + 3 * 86_400_000).toISOString().slice(0, 10)
      const later = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10)
      await fixture().call('approver', 'POST', `${REQUESTS}/${id}/submit`, { endsAt: soon })
      await fixture().call('approver', 'POST', `${REQUESTS}/${waiting}/submit`, {})
      const page = await fixture().openAs('approver', '/home', PHONE)
      await page.getByText('1 ends within a week').waitFor()
      const row = page.getByRole('row', { name: /Parking .*By request/ })
      await row.getByRole('button', { name: 'Extend' }).click()
      await page.getByRole('dialog').getByLabel('New end').fill(later)
      await assertSound(page)
      await page.getByRole('dialog').getByRole('button', { name: 'Extend' }).click()
      await page.getByText(/^Parking lasts until /).waitFor()
      await menu(page, 'My memberships').click()
      await page.getByRole('row', { name: /Garage .*Magnhild Førde-Lie .*Waits for approval/ }).waitFor()
      await assertNarrow(page, 360)
      await row.getByRole('button', { name: 'Leave' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Leave' }).click()
      await page.getByText('You have left Parking.').waitFor()
      await row.waitFor({ state: 'detached' })
      await page.getByRole('row', { name: /Parking .*Left/ }).waitFor()
      await assertSound(page)
    },
  )

  journey(fixture, 'names a deputy by the whole name, and removes it', async (fixture) => {
    const page = await fixture().openAs('colleague', '/inbox')
    await page.getByLabel('Find your deputy').fill('Emil')
    await page.getByText('Nothing found.').waitFor()
    await page.getByLabel('Find your deputy').fill('emil øvrebø')
    await page.getByRole('button', { name: /^Emil Øvrebø Adviser · Service Desk/ }).click()
    await page.getByLabel('Until').fill(new Date(Date.now() + 5 * 86_400_000).toISOString().slice(0, 10))
    await page.getByRole('button', { name: 'Set deputy' }).click()
    await page.getByText(/^Emil Øvrebø decides in your place from /).waitFor()
    await assertSound(page)
    await page.getByRole('button', { name: 'Remove deputy' }).click()
    await page.getByText('You have no deputy any more.').waitFor()
    await page.getByLabel('Find your deputy').waitFor()
  })

  journey(fixture, 'tells what a person has and why in two steps', async (fixture) => {
    const body = { objectType: 'Identity', name: 'Roof terrace', joinPolicy: { approvalRequired: false } }
    const id = await fixture().call<string>('admin', 'POST', JOINABLE, body)
    const { identityId } = await fixture().call<{ identityId: string }>('employee', 'GET', '/collections/beta/me')
    await fixture().call('admin', 'POST', `${JOINABLE}/${id}/results/members`, { coreIdentityIds: [identityId] })
    const page = await fixture().openAs('admin', '/people')
    const { step, count } = countedSteps()
    await step(page.getByRole('searchbox').fill('emil'))
    await step(page.getByRole('link', { name: 'Emil Øvrebø' }).click())
    await page.getByRole('row', { name: /Roof terrace By an administrator by Ada Åsheim .*No end/ }).waitFor()
    assert.equal(count(), 2)
  })

  journey(fixture, 'finds by keyboard what a person has and why, in windows of each width', async (fixture) => {
    const body = { objectType: 'Identity', name: 'Lift', joinPolicy: { approvalRequired: false } }
    const id = await fixture().call<string>('admin', 'POST', JOINABLE, body)
    const { identityId } = await fixture().call<{ identityId: string }>('employee', 'GET', '/collections/beta/me')
    await fixture().call('admin', 'POST', `${JOINABLE}/${id}/results/members`, { coreIdentityIds: [identityId] })
    const page = await fixture().openAs('admin')
    await heading(page, 'Overview').waitFor()
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 })
      await page.keyboard.press('Control+k')
      await page.getByRole('combobox').fill('emil')
      await page.getByRole('option', { name: /Emil Øvrebø .*Adviser/ }).waitFor()
      await assertSound(page)
      await page.keyboard.press('Enter')
      await heading(page, 'Emil Øvrebø').waitFor()
      await page.getByRole('row', { name: /Lift (Reason )?By an administrator by Ada Åsheim .*No end/ }).waitFor()
      await page.getByRole('region', { name: 'What has happened to this person' }).getByText('Lift').waitFor()
      await assertNarrow(page, width)
      await assertSound(page)
      assert.equal(await page.getByText('01910000').count(), 0)
      await page.goBack()
      await heading(page, 'Overview').waitFor()
    }
  })

  journey(
    fixture,
    'shows a manager what somebody whom they lead has, and an administrator without core data too',
    async (fixture) => {
      const manager = await fixture().openAs('manager', '/team')
      await manager.getByRole('link', { name: 'Emil Øvrebø' }).click()
      await manager
        .getByRole('region', { name: 'Memberships now' })
        .or(manager.getByText('This person is in no'))
        .first()
        .waitFor()
      assert.equal(await manager.getByText('Attributes and their sources').count(), 0)
      await assertSound(manager)
      const other = await fixture().openAs('collectionsAdmin', '/people?text=emil')
      await other.getByRole('link', { name: 'Emil Øvrebø' }).click()
      await heading(other, 'Emil Øvrebø').waitFor()
      await other.getByText('What has happened to this person').waitFor()
      await assertSound(other)
    },
  )
}

/** A collection whose requests the demo person `manager` decides. @returns Its id. */
async function approvedByManager(
  fixture: ConsoleFixture,
  name: string,
  policy: object = {},
  description = '',
): Promise<string> {
  const { identityId } = await fixture.call<{ identityId: string }>('manager', 'GET', '/collections/beta/me')
  const joinPolicy = {
    approvalRequired: true,
    approvalGates: [{ order: 1, type: 'Identity', approvers: [identityId] }],
    ...policy,
  }
  return fixture.call('admin', 'POST', JOINABLE, { objectType: 'Identity', name, description, joinPolicy })
}

async function statuses(fixture: ConsoleFixture, collectionId: string): Promise<string[]> {
  const all = await fixture.call<{ status: string }[]>('admin', 'GET', `${REQUESTS}/${collectionId}`)
  return all.map(({ status }) => status)
}

/** Whether a button is in the window without scrolling. */
async function isInWindow(page: ConsolePage, button: string): Promise<boolean> {
  const box = await page.getByRole('button', { name: button, exact: true }).boundingBox()
  return box !== null && box.y >= 0 && box.y + box.height <= (page.viewportSize()?.height ?? 0)
}
