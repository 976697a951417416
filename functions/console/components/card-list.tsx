import { useState } from 'preact/hooks'
import { t } from '../language/texts.ts'
import type { ListProps } from './list.tsx'
import { Empty } from './loaded.tsx'
import { cellOf, Head, useSorted } from './sorted.tsx'

const ROWS_AT_FIRST = 50

/**
 * A table of records whose rows are cards in a narrow window, so that nothing is beside it. The roles are written out:
 * browsers take them from cells that are not laid out as a table.
 */
export function CardList<Item>(props: ListProps<Item>) {
  const { label, items, keyOf, columns, empty, loadMore, sortParameter } = props
  const [count, setCount] = useState(ROWS_AT_FIRST)
  const { sorted, order, onSort } = useSorted(items, columns, sortParameter, loadMore === undefined)
  if (items.length === 0 && loadMore === undefined) return <Empty>{empty}</Empty>
  const isMore = count < sorted.length || loadMore !== undefined
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard (WCAG 2.1.1) */}
      <section class="scroll cards" aria-label={label} tabIndex={0}>
        {/* biome-ignore lint/a11y/noRedundantRoles: the styles of the cards take the implied role away */}
        <table role="table">
          <Head columns={columns} order={order} onSort={onSort} />
          {/* biome-ignore lint/a11y/noRedundantRoles: the styles of the cards take the implied role away */}
          <tbody role="rowgroup">
            {sorted.slice(0, count).map((item) => (
              // biome-ignore lint/a11y/noRedundantRoles: the styles of the cards take the implied role away
              <tr key={keyOf(item)} role="row">
                {columns.map(({ head, isNumber, ...content }) => (
                  // biome-ignore lint/a11y/noRedundantRoles: the styles of the cards take the implied role away
                  <td key={head} role="cell" data-head={head} class={isNumber ? 'number' : undefined}>
                    <div>{cellOf(content, item)}</div>
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {isMore && (
        <button
          type="button"
          onClick={() => {
            setCount(count + ROWS_AT_FIRST)
            loadMore?.()
          }}
        >
          {t('showMore')}
        </button>
      )}
    </>
  )
}
