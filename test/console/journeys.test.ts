import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { findChromium } from '../local/headless-browser.ts'
import { accessibilityFaults, type ConsolePage, type ConsoleWorld, openConsoleWorld } from './console-browser.ts'

const chromium = findChromium()
const missing = 'SKIPPED: there is no Chromium on this machine, so the console was not opened'
if (chromium === undefined) process.stderr.write(`\n${missing}\n\n`)

describe('The console', { skip: chromium === undefined ? missing : false }, () => {
  let world: ConsoleWorld
  before(async () => {
    world = await openConsoleWorld(chromium ?? '')
  })
  after(() => world.close())

  /** What holds on every view. */
  async function assertSound(page: ConsolePage): Promise<void> {
    assert.deepEqual(await accessibilityFaults(page), [], page.url())
    assert.deepEqual(page.reported, [], page.url())
  }

  const heading = (page: ConsolePage, name: string | RegExp) => page.getByRole('heading', { level: 1, name })

  /** Creates a collection of all people with a job title, and opens it. */
  async function createCollection(page: ConsolePage, name: string, title: string): Promise<void> {
    await page.getByRole('link', { name: 'Collections' }).click()
    await page.getByRole('link', { name: 'New collection' }).click()
    await page.getByLabel('Name').fill(name)
    await page.getByLabel('Attribute').fill('relationshipTitle')
    await page.getByLabel('Value').fill(title)
    await page.getByText(/^[1-9]\d* match now$/).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await heading(page, name).waitFor()
  }

  it('lets an administrator define a collection, see who matches, and read its members', async () => {
    const page = await world.openAs('admin', '/collections/new')
    await page.getByText('The condition is not complete.').waitFor()
    await assertSound(page)
    await createCollection(page, 'All teachers', 'Teacher')
    await page.getByRole('cell', { name: 'Has an account' }).first().waitFor()
    await page.getByText('relationshipTitle').waitFor()
    await assertSound(page)
    await page.getByRole('button', { name: 'Why?' }).first().click()
    await page.getByRole('dialog').getByText('Value: Teacher').first().waitFor()
    await assertSound(page)
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('Operator').selectOption('In')
    await page.getByLabel('Values, one per line').fill('Teacher\nNurse')
    await page.getByText(/^[1-9]\d* will join$/).waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await heading(page, 'All teachers').waitFor()
    await page.getByText('is one of').waitFor()
    await assertSound(page)
  })

  it('shows a fault of the condition at the leaf that it concerns', async () => {
    const page = await world.openAs('admin', '/collections/new')
    await page.getByRole('button', { name: 'Add a condition' }).click()
    await page.getByLabel('Attribute').first().fill('relationshipTitle')
    await page.getByLabel('Value').first().fill('Teacher')
    await page.getByLabel('Attribute').last().fill('identityColour')
    await page.getByLabel('Value').last().fill('red')
    const faults = page.locator('.leaf').filter({ hasText: 'identityColour does not exist' })
    await faults.waitFor()
    assert.equal(await faults.getByLabel('Attribute').inputValue(), 'identityColour')
  })

  it('links a group after showing the change, and shows its sync', async () => {
    const page = await world.openAs('admin')
    await createCollection(page, 'Linked teachers', 'Teacher')
    await page.getByRole('link', { name: 'Link a group' }).click()
    await page.getByRole('searchbox').fill('Demo security-1')
    await page
      .getByRole('row', { name: /^Demo security-1 / })
      .getByRole('button', { name: 'Choose a group' })
      .click()
    await page.getByText(/^[1-9]\d* accounts are added$/).waitFor()
    await assertSound(page)
    await page.getByRole('button', { name: 'Link the group' }).click()
    await heading(page, 'Demo security-1').waitFor()
    await page.getByRole('cell', { name: 'Succeeded' }).waitFor()
    await page.getByRole('img', { name: /^Accounts added and removed/ }).waitFor()
    await assertSound(page)
    await page.getByRole('link', { name: 'Linked groups' }).click()
    await page.getByRole('row', { name: /Demo security-1 .*Enabled.*Succeeded/ }).waitFor()
    await assertSound(page)
  })

  it('shows removals that are held, with names, and removes them after an approval', async () => {
    const page = await world.openAs('admin', '/collections/new')
    await page.getByLabel('Name').fill('Nobody')
    await page.getByLabel('Attribute').fill('relationshipTitle')
    await page.getByLabel('Value').fill('No such title')
    await page.getByText('Nobody matches.').waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('link', { name: 'Link a group' }).click()
    await page.getByRole('searchbox').fill('Demo populated')
    await page.getByRole('button', { name: 'Choose a group' }).first().click()
    await page.getByText(/^[1-9]\d* accounts are removed$/).waitFor()
    await page.getByRole('button', { name: 'Link the group' }).click()
    await page.getByText(/removals are held: the collection is empty/).waitFor()
    await assertSound(page)
    await page.getByRole('link', { name: 'Linked groups' }).click()
    await page.getByRole('row').nth(1).getByText('Demo populated').click()
    await page.getByRole('button', { name: 'Approve these removals' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Approve these removals' }).click()
    await page.getByRole('row', { name: /Started by hand Succeeded 0 [1-9]\d* 0/ }).waitFor()
    await page.getByText(/removals are held/).waitFor({ state: 'detached' })
    await assertSound(page)
  })

  it('changes the settings that protect groups, and refuses an impossible one', async () => {
    const page = await world.openAs('admin', '/settings')
    await page.getByLabel('Limit in percent of the group').fill('200')
    await page.getByRole('button', { name: 'Save' }).click()
    await page
      .getByRole('alert')
      .getByText(/percent must be/)
      .waitFor()
    await page.getByLabel('Limit in percent of the group').fill('30')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('alert').waitFor({ state: 'detached' })
    await page.reload()
    await page.getByLabel('Limit in percent of the group').waitFor()
    assert.equal(await page.getByLabel('Limit in percent of the group').inputValue(), '30')
    assert.deepEqual(await accessibilityFaults(page), [])
  })

  it('lets a person ask to join and cancel, and an approver decide', async () => {
    const { approver } = await joinable(world)
    const employee = await world.openAs('employee', '/join')
    await employee.getByRole('row', { name: /Choir/ }).getByRole('button', { name: 'Join' }).click()
    await employee.getByRole('dialog').getByRole('button', { name: 'Join' }).click()
    await employee.getByText('Requested.').waitFor()
    await employee.getByRole('link', { name: 'My memberships' }).click()
    const request = employee.getByRole('row', { name: /Choir .*Waits for approval/ })
    await assertSound(employee)
    await request.getByRole('button', { name: 'Cancel request' }).click()
    await employee.getByRole('dialog').getByRole('button', { name: 'Cancel request' }).click()
    await employee.getByRole('row', { name: /Choir .*Cancelled/ }).waitFor()
    await employee.getByRole('link', { name: 'Join' }).click()
    await employee.getByRole('row', { name: /Choir/ }).getByRole('button', { name: 'Join' }).click()
    await employee.getByLabel('Notes').fill('I sing')
    await employee.getByRole('dialog').getByRole('button', { name: 'Join' }).click()
    await employee.getByText('Requested.').waitFor()

    const inbox = await world.openAs(approver, '/inbox')
    await inbox
      .getByRole('row', { name: /Choir .*I sing/ })
      .getByRole('button', { name: 'Decide on the request' })
      .click()
    await inbox.getByText('A decision cannot be undone.').waitFor()
    await assertSound(inbox)
    await inbox.getByRole('button', { name: 'Approve' }).click()
    await inbox.getByText('No request waits for you.').waitFor()
    await assertSound(inbox)
    await employee.getByRole('link', { name: 'My memberships' }).click()
    await employee.getByRole('row', { name: /Choir .*Member/ }).waitFor()
  })

  it('shows sources and people to an administrator of core data only', async () => {
    const page = await world.openAs('coreAdmin', '/people')
    await page.getByRole('searchbox').fill('Øvrebø')
    await page.getByRole('link', { name: 'Emil Øvrebø' }).click()
    await heading(page, 'Emil Øvrebø').waitFor()
    await page.getByRole('cell', { name: 'demo-employee' }).first().waitFor()
    await assertSound(page)
    await page.getByRole('link', { name: 'Sources' }).click()
    await page.getByRole('link', { name: 'Demo HR' }).click()
    await page.getByRole('cell', { name: 'demo-employee', exact: true }).first().waitFor()
    await assertSound(page)
    assert.equal(await page.getByRole('link', { name: 'Collections' }).count(), 0)
    await page.goto(`${world.environment.apiUrl}/console/links`)
    await page.getByText('This page does not exist.').waitFor()
  })

  it('says what to do to a person without a role', async () => {
    const page = await world.openAs('outsider')
    await page.getByText('You have no role in this service. Ask your identity administrator.').waitFor()
    await assertSound(page)
  })

  it('is in Norwegian for a browser that prefers it, and changes the language at once', async () => {
    const page = await world.openAs('admin', '', { locale: 'nb-NO' })
    await heading(page, 'Samlinger').waitFor()
    assert.equal(await page.locator('html').getAttribute('lang'), 'nb')
    await assertSound(page)
    await page.getByRole('button', { name: 'English' }).click()
    await heading(page, 'Collections').waitFor()
  })

  it('stays signed in over a reload of a deep link, and asks again after the sign-out', async () => {
    const page = await world.openAs('admin', '/links')
    await page.reload()
    await heading(page, 'Linked groups').waitFor()
    assert.equal(new URL(page.url()).pathname, '/console/links')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    assert.deepEqual(await page.evaluate('Object.keys(localStorage).concat(Object.keys(sessionStorage))'), [])
  })

  it('calls its own origin and the authority only', async () => {
    const page = await world.openAs('admin', '/people')
    const authority = await page.locator('meta[name="sign-in-authority"]').getAttribute('content')
    assert.deepEqual(page.origins, new Set([world.environment.apiUrl, authority]))
  })

  it('shows names as text, whatever they contain', async () => {
    const page = await world.openAs('admin')
    const name = '<img src=x onerror=alert(1)>'
    await createCollection(page, name, 'Teacher')
    await page.getByRole('link', { name: 'Collections' }).click()
    await page.getByRole('link', { name }).waitFor()
    await assertSound(page)
  })

  it('keeps what is shown while the service is not reachable, and says so', async () => {
    const page = await world.openAs('admin', '/links')
    await heading(page, 'Linked groups').waitFor()
    await page.context().setOffline(true)
    await page.getByRole('link', { name: 'Collections' }).click()
    await page.getByText('The service is not reachable.').waitFor()
    await page.context().setOffline(false)
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText(/^\d+ of \d+$/).waitFor()
  })
})

/** A collection that everybody can ask to join, with one approver. */
async function joinable({ environment }: ConsoleWorld): Promise<{ approver: string }> {
  const tenant = environment.demo.tenants[0]
  const person = (name: string) => tenant?.people.find((one) => one.name === name)
  const token = async (name: string) => {
    const { json } = await environment.directory('POST', `/${tenant?.tenantId}/oauth2/v2.0/token`, {
      form: {
        grant_type: 'password',
        client_id: environment.demo.publicClientId,
        username: person(name)?.username ?? '',
        password: person(name)?.password ?? '',
        scope: environment.demo.scope,
      },
    })
    return (json as { access_token: string }).access_token
  }
  const call = async (name: string, path: string, body?: object) => {
    const response = await fetch(environment.apiUrl + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { authorization: `Bearer ${await token(name)}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return ((await response.json()) as { data: Record<string, unknown> }).data
  }
  const { identityId } = await call('approver', '/collections/beta/me')
  await call('admin', '/collections-joinable/beta', {
    objectType: 'Identity',
    name: 'Choir',
    joinPolicy: { approvalRequired: true, approvalGates: [{ order: 1, type: 'Identity', approvers: [identityId] }] },
  })
  return { approver: 'approver' }
}
