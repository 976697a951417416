import assert from 'node:assert/strict'
import type { Response } from 'playwright-core'
import type { ConsolePage, ConsoleWorld } from '../support/console/console-browser.ts'
import { criteriaCollection, journey, leaf } from '../support/console/console-steps.ts'

const ROWS_PER_PAGE_COUNT = 20

/** Journeys through a list of several pages. */
export function listJourneys(world: () => ConsoleWorld): void {
  journey(world, 'has 40 rows of a long list in the document, and all of them by scrolling', async (world) => {
    const { page, count } = await openLongList(world())
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

  journey(world, 'keeps the place in a long list when the list is loaded again', async (world) => {
    const { page, count } = await openLongList(world())
    const last = page.locator(`.long [aria-rowindex="${count + 1}"]`)
    while ((await last.count()) === 0) await page.locator('.long').evaluate(scrollByPage)
    await last.getByRole('button', { name: 'Why?' }).focus()
    const isLastPage = async (response: Response) =>
      /\/members\?/.test(response.url()) && (await response.json()).nextCursor === undefined
    for (let reloads = 0; reloads < 2; reloads++) await page.waitForResponse(isLastPage)
    assert.equal(await last.getByRole('button', { name: 'Why?' }).evaluate(isFocused), true)
  })

  journey(world, 'keeps the place in a page that came while the list was loaded again', async (world) => {
    const [isReloading, isAtEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let firstPageCount = 0
    const { page, count } = await openLongList(world(), {
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
}

type LongListOptions = {
  readonly rowsPerPageCount?: number
  /** Delays the request for a page of members. */
  readonly delay?: (query: URLSearchParams) => Promise<void> | undefined
}

/** The page of a collection that has just changed: its members are loaded again and again, a few in each response. */
async function openLongList(
  world: ConsoleWorld,
  { rowsPerPageCount = ROWS_PER_PAGE_COUNT, delay }: LongListOptions = {},
): Promise<{ page: ConsolePage; count: number }> {
  const id = await criteriaCollection(world, 'Long', [
    leaf('relationshipId', 'NotEquals', '00000000-0000-4000-8000-000000000000'),
  ])
  const page = await world.openAs('admin')
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
  await page.goto(`${world.environment.apiUrl}/console/collections/${id}`)
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
