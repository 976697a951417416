import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { filteredPage } from '../../shared/kernel/filtered-page.ts'
import { pageFrom } from '../../shared/kernel/versioned.ts'

const all = Array.from({ length: 100 }, (_, index) => index + 1)

/** The numbers from 1 to 100, read page by page. */
function numbers() {
  const sizes: number[] = []
  const read = async (after: string | undefined, size: number) => {
    sizes.push(size)
    return pageFrom(all.slice(Number(after ?? 0)), size, String)
  }
  return { read, sizes }
}

describe('A list of which some items pass', () => {
  it('has each of them once, in pages that are never larger than asked for', async () => {
    const passes = [() => true, (number: number) => number % 5 > 1, (number: number) => number % 40 === 0]
    for (const isWanted of passes) {
      const { read } = numbers()
      const found: number[] = []
      let after: string | undefined
      do {
        const page = await filteredPage(read, isWanted, after, 7)
        assert.ok(page.items.length <= 7, `${page.items.length} items`)
        found.push(...page.items)
        after = page.continueAfter
      } while (after !== undefined)
      assert.deepEqual(found, all.filter(isWanted))
    }
  })

  it('is read five times at most for one page, which goes on after what was read when nothing passes', async () => {
    const { read, sizes } = numbers()
    assert.deepEqual(await filteredPage(read, () => false, undefined, 7), { items: [], continueAfter: '35' })
    assert.deepEqual(sizes, [7, 7, 7, 7, 7])
  })
})
