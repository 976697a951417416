import assert from 'node:assert/strict'
import type { Locator, Response } from 'playwright-core'
import type { ConsoleFixture, ConsolePage } from '../support/console/console-browser.ts'
import {
  assertNarrow,
  assertSound,
  createGroup,
  criteriaCollection,
  journey,
  leaf,
  linkToNew,
  openView,
  showView,
} from '../support/console/console-steps.ts'
import { eventually } from '../support/journeys/demo-clients.ts'

const ROWS_PER_PAGE_COUNT = 20

/** Journeys through lists: of collections and links, and of several pages. */
export function listJourneys(fixture: () => ConsoleFixture): void {
  journey(fixture, 'lists collections and links with their numbers, as cards on a phone', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'Numbered', [leaf('relationshipTitle', 'Equals', 'Adviser')])
    await linkToNew(fixture(), id, 'Numbered group')
    const count = await eventually('the collection is evaluated', async () => {
      const path = `/collections/beta/counts?collectionId=${id}`
      const [counts] = await fixture().call<{ memberCount: number | null }[]>('admin', 'GET', path)
      return counts?.memberCount ?? undefined
    })
    const page = await fixture().openAs('admin', '/collections?text=numbered')
    await page.getByRole('row', { name: new RegExp(`^Numbered None By condition Positions ${count} 1 `) }).waitFor()
    const options = { viewport: { width: PHONE_WIDTH, height: 740 }, locale: 'nb-NO', colorScheme: 'dark' } as const
    const phone = await fixture().openAs('admin', '/collections?text=numbered', options)
    const card = phone.getByRole('row', { name: new RegExp(`Numbered .*Medlemmer ${count} Grupper 1 `) })
    await card.waitFor()
    assert.equal(await isInWindow(card), true)
    await assertNarrow(phone, PHONE_WIDTH)
    await assertSound(phone)
    await showView(phone, '/links?text=numbered')
    const link = phone.getByRole('row', { name: /Numbered group .*Numbered/ })
    await link.waitFor()
    assert.equal(await isInWindow(link), true)
    await assertNarrow(phone, PHONE_WIDTH)
    await assertSound(phone)
  })

  journey(fixture, 'has 40 rows of a long list in the document, and all of them by scrolling', async (fixture) => {
    const { page, count } = await openLongList(fixture())
    await page.getByRole('button', { name: 'Why?' }).first().focus()
    const seen = new Set<string>()
    for (;;) {
      const rows = await page.locator('.long tbody tr[aria-rowindex]').evaluateAll(rowIndexes)
      assert.ok(rows.length <= 45, `${rows.length} rows`)
      for (const row of rows) seen.add(row)
      if (rows.includes(`${count + 1}`)) break
      await page.locator('.long').evaluate(scrollByPage)
    }
    assert.equal(seen.size, count)
    // The button with the focus belongs to another row now.
    assert.equal(await page.evaluate('document.activeElement.className'), 'scroll long')
  })

  journey(fixture, 'says how many members there are before all of them are loaded', async (fixture) => {
    const isAtEnd = Promise.withResolvers<void>()
    const delay = (query: URLSearchParams) => (query.has('nextCursor') ? isAtEnd.promise : undefined)
    const { page, count } = await openLongList(fixture(), { delay })
    assert.equal(await page.locator('.long tbody tr[aria-rowindex]').count(), ROWS_PER_PAGE_COUNT)
    assert.ok(count > ROWS_PER_PAGE_COUNT, `${count} members`)
    isAtEnd.resolve()
  })

  journey(fixture, 'keeps the place in a long list when the list is loaded again', async (fixture) => {
    const { page, count } = await openLongList(fixture())
    const last = page.locator(`.long [aria-rowindex="${count + 1}"]`)
    while ((await last.count()) === 0) await page.locator('.long').evaluate(scrollByPage)
    await last.getByRole('button', { name: 'Why?' }).focus()
    const isLastPage = async (response: Response) =>
      /\/members\?/.test(response.url()) && (await response.json()).nextCursor === undefined
    for (let reloads = 0; reloads < 2; reloads++) await page.waitForResponse(isLastPage)
    assert.equal(await last.getByRole('button', { name: 'Why?' }).evaluate(isFocused), true)
  })

  journey(fixture, 'keeps the place in a page that came while the list was loaded again', async (fixture) => {
    const [isReloading, isAtEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let firstPageCount = 0
    const { page, count } = await openLongList(fixture(), {
      rowsPerPageCount: 2 * ROWS_PER_PAGE_COUNT,
      async delay(query) {
        if (query.has('nextCursor')) return isReloading.promise
        firstPageCount += 1
        if (firstPageCount === 1) return undefined
        isReloading.resolve()
        return isAtEnd.promise
      },
    })
    assert.ok(count <= 4 * ROWS_PER_PAGE_COUNT, `${count} members`)
    const last = page.locator(`.long [aria-rowindex="${count + 1}"]`)
    while ((await last.count()) === 0) await page.locator('.long').evaluate(scrollByPage)
    await last.getByRole('button', { name: 'Why?' }).focus()
    const isReloaded = page.waitForResponse((response) => response.url().includes('nextCursor='))
    isAtEnd.resolve()
    await isReloaded
    await page.locator('.long').evaluate(scrollByPage)
    assert.equal(await last.getByRole('button', { name: 'Why?' }).evaluate(isFocused), true)
  })

  journey(fixture, 'lists all syncs of a link, also those of further pages', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'Synced twice', [leaf('relationshipTitle', 'Equals', 'Adviser')])
    const linkId = await linkToNew(fixture(), id, 'Synced twice')
    const jobsPath = `/group-link/beta/sync-jobs?linkId=${linkId}&status=Succeeded`
    const succeeded = async (count: number) =>
      eventually(`the link is synced ${count} times`, async () => {
        const jobs = await fixture().call<unknown[]>('admin', 'GET', jobsPath)
        return jobs.length >= count || undefined
      })
    await succeeded(1)
    await fixture().call('admin', 'POST', `/group-link/beta/group-links/${id}/sync`)
    await succeeded(2)
    const page = await fixture().openAs('admin')
    await page.route(/\/sync-jobs\?/, (route) =>
      route.continue({
        url: route
          .request()
          .url()
          .replace(/limit=\d+/, 'limit=1'),
      }),
    )
    await openView(page, `/links/${linkId}`)
    await page.getByRole('row', { name: /Started by hand Succeeded/ }).waitFor()
    await page.getByRole('row', { name: /Link created Succeeded/ }).waitFor()
  })

  journey(fixture, 'says where more groups may be found than are shown', async (fixture) => {
    const id = await criteriaCollection(fixture(), 'For one of many', [leaf('relationshipTitle', 'Equals', 'Adviser')])
    for (let number = 1; number <= FOUND_GROUPS_COUNT; number++) {
      await createGroup(fixture().environment, `Choir ${number}`, [])
    }
    const page = await fixture().openAs('admin', `/links/new/${id}`)
    await page.getByRole('searchbox').fill('Choir')
    await page.getByText(`The first ${FOUND_GROUPS_COUNT} are shown. There may be more:`, { exact: false }).waitFor()
    await page.getByRole('searchbox').fill(`Choir ${FOUND_GROUPS_COUNT}`)
    await page.getByText(/There may be more/).waitFor({ state: 'detached' })
    await page.getByText(`Choir ${FOUND_GROUPS_COUNT}`).waitFor()
  })
}

/** A search returns at most this number. */
const FOUND_GROUPS_COUNT = 50

/** As narrow as a phone. */
const PHONE_WIDTH = 360

/** Whether all of a row, its links and buttons are in the window. */
async function isInWindow(row: Locator): Promise<boolean> {
  const parts = [row, ...(await row.getByRole('cell').all())]
  const boxes = await Promise.all(parts.map((part) => part.boundingBox()))
  return boxes.every((box) => box === null || (box.x >= 0 && box.x + box.width <= PHONE_WIDTH))
}

type LongListOptions = {
  readonly rowsPerPageCount?: number
  /** Delays the request for a page of members. */
  readonly delay?: (query: URLSearchParams) => Promise<void> | undefined
}

/** The page of a collection that has just changed: its members are loaded again and again, a few in each response. */
async function openLongList(
  fixture: ConsoleFixture,
  { rowsPerPageCount = ROWS_PER_PAGE_COUNT, delay }: LongListOptions = {},
): Promise<{ page: ConsolePage; count: number }> {
  const id = await criteriaCollection(fixture, 'Long', [
    leaf('relationshipId', 'NotEquals', '00000000-0000-4000-8000-000000000000'),
  ])
  const page = await fixture.openAs('admin')
  await page.route(/\/members\?/, async (route) => {
    const url = route.request().url()
    await delay?.(new URL(url).searchParams)
    return route.continue({ url: url.replace(/pageSize=\d+/, `pageSize=${rowsPerPageCount}`) })
  })
  await page.route(new RegExp(`/collections-criteria/beta/${id}$`), async (route) => {
    const response = await route.fetch()
    const json = await response.json()
    await route.fulfill({ response, json: { ...json, data: { ...json.data, updatedAt: '2100-01-01T00:00:00Z' } } })
  })
  await page.goto(`${fixture.environment.apiUrl}/console/collections/${id}`)
  const counted = page.getByText(/^\d+ members$/)
  await counted.waitFor()
  const count = Number.parseInt((await counted.textContent()) ?? '', 10)
  assert.ok(count > 3 * ROWS_PER_PAGE_COUNT, `${count} members`)
  return { page, count }
}

/** Runs in the browser. */
function rowIndexes(rows: unknown[]): string[] {
  return rows.map((row) => (row as { readonly ariaRowIndex: string }).ariaRowIndex)
}

/** Runs in the browser. */
function isFocused(element: unknown): boolean {
  return (element as { matches(selector: string): boolean }).matches(':focus')
}

/** Scrolls, and waits for the second frame: the rows of the view are in the document then. Runs in the browser. */
async function scrollByPage(region: unknown): Promise<void> {
  const scrolled = region as { readonly clientHeight: number; scrollBy(x: number, y: number): void }
  scrolled.scrollBy(0, scrolled.clientHeight)
  const { requestAnimationFrame } = globalThis as unknown as { requestAnimationFrame(next: () => void): void }
  for (let frames = 0; frames < 2; frames++) await new Promise<void>((next) => requestAnimationFrame(next))
}
