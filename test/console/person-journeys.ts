import assert from 'node:assert/strict'
import type { ConsoleFixture } from '../support/console/console-browser.ts'
import { assertSound, focused, heading, joinableCollection, journey, menu } from '../support/console/console-steps.ts'

const REQUESTS = '/collections-joinable/beta/membership-requests'

/** Journeys of people, approvers, managers, and of those who look after the data. */
export function personJourneys(fixture: () => ConsoleFixture): void {
  journey(fixture, 'lets a person ask to join and cancel, and an approver decide on two requests', async (fixture) => {
    const collectionId = await joinableCollection(fixture(), 'Choir', 'approver')
    await fixture().call('colleague', 'POST', `${REQUESTS}/${collectionId}/submit`, {})
    const employee = await fixture().openAs('employee')
    await menu(employee, 'Join').click()
    await employee.getByRole('row', { name: /Choir/ }).waitFor()
    await assertSound(employee)
    await employee.getByRole('row', { name: /Choir/ }).getByRole('button', { name: 'Join' }).click()
    await employee.getByRole('dialog').getByRole('button', { name: 'Join' }).click()
    await employee.getByText('Your request to join Choir waits for an approval.').waitFor()
    const request = employee.getByRole('row', { name: /Choir .*Waits for approval/ })
    await assertSound(employee)
    await request.getByRole('button', { name: 'Cancel request' }).click()
    await employee.getByRole('dialog').getByRole('button', { name: 'Cancel request' }).click()
    await employee.getByRole('row', { name: /Choir .*Cancelled/ }).waitFor()
    await menu(employee, 'Join').click()
    await employee.getByRole('row', { name: /Choir/ }).getByRole('button', { name: 'Join' }).click()
    await employee.getByLabel('Notes').fill('I sing')
    await employee.getByRole('dialog').getByRole('button', { name: 'Join' }).click()
    await employee.getByRole('row', { name: /Choir .*Waits for approval/ }).waitFor()

    const inbox = await fixture().openAs('approver', '/inbox')
    await heading(inbox, 'To approve').waitFor()
    const waiting = (name: RegExp) => inbox.getByRole('row', { name })
    await waiting(/Emil Øvrebø .*Choir .*I sing/)
      .getByRole('link')
      .click()
    await inbox.getByText('A decision cannot be undone.').waitFor()
    await inbox.getByText('1 person can decide').waitFor()
    await assertSound(inbox)
    await inbox.getByRole('button', { name: 'Approve' }).click()
    await inbox.getByText('The request of Emil Øvrebø is approved.').waitFor()
    await waiting(/Emil Øvrebø .*Choir/).waitFor({ state: 'detached' })
    await waiting(/Kolbjørn Dåvik .*Choir/)
      .getByRole('link')
      .click()
    // As the service responds when the person is not allowed to join any more.
    await inbox.route('**/approve', async (route) => {
      const response = await route.fetch()
      const { data, ...rest } = (await response.json()) as { data: { readonly lifecycle: readonly object[] } }
      const lifecycle = [...data.lifecycle.slice(0, -1), { ...data.lifecycle.at(-1), status: 'Cancelled' }]
      await route.fulfill({ response, json: { ...rest, data: { ...data, status: 'Cancelled', lifecycle } } })
    })
    await inbox.getByRole('button', { name: 'Approve' }).click()
    await inbox.getByText('The request of Kolbjørn Dåvik was cancelled: ').waitFor()
    await waiting(/Choir/).waitFor({ state: 'detached' })
    await assertSound(inbox)
    await employee.reload()
    await employee.getByRole('row', { name: /Choir .*Member/ }).waitFor()
  })

  journey(fixture, 'binds a decision to the request that was shown, and sends it once', async (fixture) => {
    const collectionId = await joinableCollection(fixture(), 'Orchestra', 'approver')
    const path = `${REQUESTS}/${collectionId}`
    const { id } = await fixture().call<{ id: string }>('manager', 'POST', `${path}/submit`, {})
    const page = await fixture().openAs('approver', `/inbox/${collectionId}/${id}`)
    await page.getByRole('button', { name: 'Approve' }).waitFor()
    await fixture().call('manager', 'POST', `${path}/${id}/cancel`, {})
    let send = () => {}
    const isSent = new Promise<void>((resolve) => {
      send = resolve
    })
    await page.route('**/approve', async (route) => {
      await isSent
      await route.continue()
    })
    await page.getByRole('button', { name: 'Approve' }).click()
    await page.locator('button:disabled', { hasText: 'Approve' }).waitFor()
    send()
    await page.getByRole('alert').getByText('This was changed by someone else meanwhile.').waitFor()
    assert.equal((await fixture().call<{ status: string }>('admin', 'GET', `${path}/${id}`)).status, 'Cancelled')
  })

  journey(fixture, 'passes one gate with an approval that is sent again after its answer was lost', async (fixture) => {
    const collectionId = await joinableCollection(fixture(), 'Two gates', 'approver')
    const { identityId } = await fixture().call<{ identityId: string }>('approver', 'GET', '/collections/beta/me')
    const approvalGates = [1, 2].map((order) => ({ order, type: 'Identity', approvers: [identityId] }))
    const body = { objectType: 'Identity', joinPolicy: { approvalRequired: true, approvalGates } }
    await fixture().call('admin', 'PUT', `/collections-joinable/beta/${collectionId}`, body)
    const { id } = await fixture().call<{ id: string }>('employee', 'POST', `${REQUESTS}/${collectionId}/submit`, {})
    const page = await fixture().openAs('approver', '/inbox')
    await page.getByRole('checkbox', { name: 'Select Emil Øvrebø, Two gates' }).click()
    await page.route('**/decide', async (route) => {
      await route.fetch()
      await route.abort()
    })
    await page.getByRole('button', { name: 'Approve 1' }).click()
    await page.getByText('The service is not reachable').waitFor()
    await page.unroute('**/decide')
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByRole('alert').getByText('This has changed meanwhile.').waitFor()
    const request = await fixture().call<{ status: string }>('admin', 'GET', `${REQUESTS}/${collectionId}/${id}`)
    assert.equal(request.status, 'PendingApproval')
  })

  journey(fixture, 'lets a manager ask on behalf of somebody whom they lead', async (fixture) => {
    await joinableCollection(fixture(), 'Shift plan', 'approver')
    const page = await fixture().openAs('manager', '/team')
    const report = page.getByRole('row', { name: /Emil Øvrebø/ })
    await report.getByRole('button', { name: 'Ask to join' }).click()
    await page.getByRole('dialog').getByLabel('Collection').selectOption('Shift plan')
    await assertSound(page)
    await page.getByRole('dialog').getByRole('button', { name: 'Ask to join' }).click()
    await page.getByText('The request for Emil Øvrebø waits for an approval.').waitFor()
    await page.getByRole('row', { name: /Emil Øvrebø Shift plan Waits for approval/ }).waitFor()
    await assertSound(page)
  })

  journey(fixture, 'asks a person with several positions which one a membership is for', async (fixture) => {
    const { id: collectionId } = await archive(fixture())
    const page = await fixture().openAs('colleague', '/join')
    await page
      .getByRole('row', { name: /Reading room/ })
      .getByRole('button', { name: 'Join' })
      .click()
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Join' }).click()
    await dialog.getByText('Choose the position that the membership is for.').waitFor()
    await dialog.getByLabel('Position').selectOption('Archivist, Archive')
    // A day without its month and year would be read as none.
    await dialog.getByLabel('Until (optional)').focus()
    await page.keyboard.type('12')
    await dialog.getByRole('button', { name: 'Join' }).click()
    assert.equal(await focused(page), 'Until (optional)')
    await dialog.getByLabel('Until (optional)').fill('')
    await dialog.getByRole('button', { name: 'Join' }).click()
    await page.getByRole('row', { name: /Reading room Archivist None Member/ }).waitFor()
    const path = `/collections/beta/${collectionId}/members`
    assert.equal((await fixture().call<unknown[]>('admin', 'GET', path)).length, 1)
  })

  journey(fixture, 'shows sources and people to an administrator of core data only', async (fixture) => {
    const page = await fixture().openAs('coreAdmin', '/people')
    await page.getByRole('searchbox').fill('Øvrebø')
    await page.getByRole('link', { name: 'Emil Øvrebø' }).click()
    await heading(page, 'Emil Øvrebø').waitFor()
    await page.getByRole('row', { name: /^Adviser Service Desk 1 Jan 2020/ }).waitFor()
    await page.getByRole('row', { name: 'first name Emil Demo HR' }).waitFor()
    await page.getByRole('row', { name: 'main position Adviser, Service Desk Demo HR' }).waitFor()
    const number = page.getByRole('row', { name: /^national identity number/ })
    await number.getByRole('button', { name: 'Show' }).click()
    await number.getByText(/^019100/).waitFor()
    await assertSound(page)
    await page.getByRole('link', { name: 'Sources' }).click()
    await page.getByRole('img', { name: 'How long ago each source sent data' }).waitFor()
    await page.getByRole('row', { name: /^Demo HR Active In order (now|\d+ min ago)/ }).waitFor()
    await assertSound(page)
    await page.getByRole('link', { name: 'Demo HR' }).click()
    await page.getByRole('cell', { name: 'Person' }).first().waitFor()
    await page.getByText(/^[1-9]\d* people, [1-9]\d* units, [1-9]\d* positions$/).waitFor()
    await page.getByText(/^Last data: (now|\d+ min ago)/).waitFor()
    await assertSound(page)
    assert.equal(await page.getByRole('link', { name: 'Collections' }).count(), 0)
    await page.goto(`${fixture().environment.apiUrl}/console/links`)
    await page.getByText('Your roles do not include this page.').waitFor()
    await assertSound(page)
    await page.goto(`${fixture().environment.apiUrl}/console/people/%E0%A4`)
    await page.getByText('This page does not exist.').waitFor()
  })

  journey(fixture, 'tells an integrator why a person is in a collection', async (fixture) => {
    await joinableCollection(fixture(), 'Quiet room', 'approver')
    const page = await fixture().openAs('admin', '/people')
    await page.getByRole('searchbox').fill('Kolbjørn')
    await page.getByRole('link', { name: 'Kolbjørn Dåvik' }).click()
    await page.getByLabel('Find a collection by name').fill('quiet')
    await page.getByRole('button', { name: 'Quiet room' }).click()
    await page.getByRole('dialog').getByText('Not a member').waitFor()
    await assertSound(page)
  })

  journey(fixture, 'says what to do to a person without a role', async (fixture) => {
    const page = await fixture().openAs('outsider')
    await page.getByText('You have no role in this service. Ask your identity administrator.').waitFor()
    await assertSound(page)
  })
}

/** A collection of positions that everybody can join at once. */
async function archive(fixture: ConsoleFixture): Promise<{ readonly id: string }> {
  const body = { objectType: 'Relationship', name: 'Reading room', joinPolicy: { approvalRequired: false } }
  return { id: await fixture.call<string>('admin', 'POST', '/collections-joinable/beta', body) }
}
