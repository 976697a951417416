import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Locator } from 'playwright-core'
import { applicationToken, eventually } from '../journeys/demo-clients.ts'
import type { StartedEnvironment } from '../journeys/started-environment.ts'
import {
  type AccessibilityRules,
  accessibilityFaults,
  type ConsoleFixture,
  type ConsolePage,
} from './console-browser.ts'

/** A test in a browser. The pages that it opens are closed at its end: open ones are rendered on. */
export function journey(
  fixture: () => ConsoleFixture,
  name: string,
  run: (fixture: () => ConsoleFixture) => Promise<void>,
): void {
  it(name, async () => {
    const pages: ConsolePage[] = []
    const openAs: ConsoleFixture['openAs'] = async (...options) => {
      const page = await fixture().openAs(...options)
      pages.push(page)
      return page
    }
    try {
      await run(() => ({ ...fixture(), openAs }))
    } finally {
      for (const page of pages) await page.context().close()
    }
  })
}

/** What holds on every view. */
export async function assertSound(page: ConsolePage, rules?: AccessibilityRules): Promise<void> {
  // The code of a view is loaded when it is first shown.
  await page.getByRole('heading', { level: 1 }).first().waitFor()
  assert.deepEqual(await accessibilityFaults(page, rules), [], page.url())
  assert.deepEqual(page.reported, [], page.url())
}

export const heading = (page: ConsolePage, name: string | RegExp): Locator =>
  page.getByRole('heading', { level: 1, name })

/** An entry of the main menu. */
export const menu = (page: ConsolePage, name: string): Locator =>
  page.getByRole('navigation', { name: 'Main menu' }).getByRole('link', { name })

/** Creates a collection of all positions with a title through the form, and opens it. */
export async function createCollection(page: ConsolePage, name: string, title: string): Promise<void> {
  await menu(page, 'Collections').click()
  await page.getByRole('link', { name: 'New collection by condition' }).click()
  await page.getByLabel('Name', { exact: true }).fill(name)
  await page.getByLabel('Attribute').fill('relationshipTitle')
  await page.getByLabel('Value').fill(title)
  await page.getByText(/^[1-9]\d* match now$/).waitFor()
  await reviewAndSave(page)
  await heading(page, name).waitFor()
}

/** Saves the condition that is open, after its effect was shown. */
export async function reviewAndSave(page: ConsolePage): Promise<void> {
  await page.getByRole('button', { name: 'Review and save' }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^Save/ }).click()
}

type Leaf = { readonly id: string; readonly field: string; readonly operator: string; readonly value?: unknown }

export const leaf = (id: string, operator: string, value?: unknown, field = id): Leaf => ({
  id,
  field,
  operator,
  ...(value === undefined ? {} : { value }),
})

/** Creates a criteria collection through the API. @returns Its id. */
export function criteriaCollection(
  fixture: ConsoleFixture,
  name: string,
  conditions: readonly object[],
): Promise<string> {
  const condition = { groupOperator: 'AND', conditions }
  return fixture.call('admin', 'POST', '/collections-criteria/beta', { objectType: 'Relationship', name, condition })
}

/** Creates a joinable collection for people whose requests a demo person approves. @returns Its id. */
export async function joinableCollection(fixture: ConsoleFixture, name: string, approver: string): Promise<string> {
  const { identityId } = await fixture.call<{ identityId: string }>(approver, 'GET', '/collections/beta/me')
  const joinPolicy = {
    approvalRequired: true,
    approvalGates: [{ order: 1, type: 'Identity', approvers: [identityId] }],
  }
  return fixture.call('admin', 'POST', '/collections-joinable/beta', { objectType: 'Identity', name, joinPolicy })
}

/** Links a demo group to a collection. @returns The id of the group. */
export async function linkTo(fixture: ConsoleFixture, collectionId: string, groupName: string): Promise<string> {
  const groups = fixture.environment.demo.tenants[0]?.groups ?? []
  const directoryGroupId = groups.find(({ displayName }) => displayName === groupName)?.id ?? ''
  await fixture.call('admin', 'POST', '/group-link/beta/group-links', { collectionId, directoryGroupId })
  return directoryGroupId
}

/** Links a new group of the directory to a collection. @returns The id of the link. */
export async function linkToNew(fixture: ConsoleFixture, collectionId: string, groupName: string): Promise<string> {
  const directoryGroupId = await createGroup(fixture.environment, groupName, [])
  return fixture.call('admin', 'POST', '/group-link/beta/group-links', { collectionId, directoryGroupId })
}

const UNSETTLED = ['Pending', 'RemovalsHeld', 'Failed']

/** Waits until the group of a collection is in sync, or waits for a decision of a person. @returns The id of the link. */
export async function synced(fixture: ConsoleFixture, collectionId: string): Promise<string> {
  const path = `/group-link/beta/group-links?collectionId=${collectionId}`
  return eventually(`the group of ${collectionId} is in sync`, async () => {
    const [link] = await fixture.call<{ id: string; syncState: string }[]>('admin', 'GET', path)
    return link === undefined || UNSETTLED.includes(link.syncState) ? undefined : link.id
  })
}

export async function change(fixture: ConsoleFixture, id: string, conditions: readonly object[]): Promise<void> {
  const condition = { groupOperator: 'AND', conditions }
  await fixture.call('admin', 'PUT', `/collections-criteria/beta/${id}`, { objectType: 'Relationship', condition })
}

/** Creates a security group in the directory itself. @returns Its id. */
export async function createGroup(
  environment: StartedEnvironment,
  displayName: string,
  memberIds: readonly string[],
): Promise<string> {
  const token = await applicationToken(environment, 'tester', 'https://graph.microsoft.com/.default')
  const members = memberIds.map((id) => `https://graph.microsoft.com/v1.0/directoryObjects/${id}`)
  const { status, json } = await environment.directory('POST', '/v1.0/groups', {
    token,
    json: {
      displayName,
      mailNickname: 'created',
      groupTypes: [],
      mailEnabled: false,
      securityEnabled: true,
      ...(members.length === 0 ? {} : { 'members@odata.bind': members }),
    },
  })
  assert.equal(status, 201, JSON.stringify(json))
  return (json as { id: string }).id
}

/** Opens a view without loading the page. */
export async function openView(page: ConsolePage, view: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', '/console${view}'); dispatchEvent(new PopStateEvent('popstate'))`)
}

/** Opens a view, and waits for what it shows first. */
export async function showView(page: ConsolePage, view: string): Promise<void> {
  await openView(page, view)
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
}

const MAX_TABS = 60

/** Presses Tab until the element with an accessible name has the focus. */
export async function tabTo(page: ConsolePage, name: string): Promise<void> {
  for (let count = 0; count < MAX_TABS; count++) {
    await page.keyboard.press('Tab')
    if ((await focused(page)) === name) return
  }
  assert.fail(`${name} has no focus after ${MAX_TABS} tabs`)
}

/** Moves the focus to a button or link by keyboard, and presses it. */
export async function press(page: ConsolePage, name: string): Promise<void> {
  if ((await focused(page)) !== name) await tabTo(page, name)
  await page.keyboard.press('Enter')
}

/** Counts what a person does, so that a journey can say with how many steps it ends. */
export function countedSteps(): {
  readonly step: (act: Promise<unknown>) => Promise<void>
  readonly count: () => number
} {
  let count = 0
  return {
    step: async (act) => {
      count += 1
      await act
    },
    count: () => count,
  }
}

/** The name of the element that has the focus. */
export function focused(page: ConsolePage): Promise<string> {
  return page.evaluate(`(() => {
    const element = document.activeElement
    const label = element.labels?.[0]?.querySelector('span') ?? element.labels?.[0]
    return (element.getAttribute('aria-label') ?? label?.textContent ?? element.textContent).trim()
  })()`)
}

/** Nothing is beside the window. */
export async function assertNarrow(page: ConsolePage, width: number): Promise<void> {
  assert.equal(await page.evaluate('document.documentElement.scrollWidth'), width, page.url())
}
