import { Component, type ComponentChildren, createRef } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { t } from '../language/texts.ts'
import { Empty } from './loaded.tsx'
import { type Column, cellOf, Head, useSorted } from './sorted.tsx'

export type ListProps<Item> = {
  readonly label: string
  readonly items: readonly Item[]
  readonly keyOf: (item: Item) => string
  readonly columns: readonly Column<Item>[]
  readonly empty: ComponentChildren
  /** The parameter of the address that keeps the order. */
  readonly sortParameter?: string
  /** Loads the next items. Undefined when all are loaded. */
  readonly loadMore?: (() => void) | undefined
}

type RowProps<Item> = {
  readonly item: Item
  readonly itemKey: string
  readonly columns: readonly Column<Item>[]
  readonly index?: number
}

/** A row is rendered again only for another item, place or set of columns: scrolling renders the new rows. */
class Row<Item> extends Component<RowProps<Item>> {
  readonly #row = createRef<HTMLTableRowElement>()

  override shouldComponentUpdate({ item, columns, index }: RowProps<Item>): boolean {
    return item !== this.props.item || columns !== this.props.columns || index !== this.props.index
  }

  /**
   * A button of an item that has left the view must not become the same button of another one while it has the focus.
   */
  override componentDidUpdate({ itemKey }: RowProps<Item>): void {
    if (itemKey !== this.props.itemKey) this.#passFocusOn()
  }

  override componentWillUnmount(): void {
    this.#passFocusOn()
  }

  /** Without the focus in the list, the keyboard would begin at the top of the page. */
  #passFocusOn(): void {
    const row = this.#row.current
    if (row?.contains(document.activeElement)) row.closest<HTMLElement>('.long')?.focus({ preventScroll: true })
  }

  override render() {
    const { item, itemKey, columns, index } = this.props
    return (
      <tr ref={this.#row} aria-rowindex={index}>
        {columns.map((column) => (
          <td
            key={column.isReused ? column.head : `${column.head} ${itemKey}`}
            class={column.isNumber ? 'number' : undefined}
          >
            {cellOf(column, item)}
          </td>
        ))}
      </tr>
    )
  }
}

/** Rows above and below the visible ones, so that scrolling by keyboard always has a next row. */
const ROWS_AROUND = 6
const ROWS_AT_FIRST = 30
const LOADED_AHEAD_ROWS = 60

/** A table of any number of records. Only the rows in view are in the document. All rows have the same height. */
export function LongList<Item>(props: ListProps<Item>) {
  const { label, items, keyOf, columns, empty, loadMore, sortParameter } = props
  const { sorted, order, onSort } = useSorted(items, columns, sortParameter, loadMore === undefined)
  const region = useRef<HTMLElement>(null)
  const [view, setView] = useState({ first: 0, count: ROWS_AT_FIRST, rowHeight: 0 })
  const measure = () => {
    const shown = region.current
    if (shown === null) return
    const rowHeight = shown.querySelector('tbody tr:not(.spacer)')?.getBoundingClientRect().height ?? 0
    if (rowHeight === 0) return
    const first = Math.max(0, Math.floor(shown.scrollTop / rowHeight) - ROWS_AROUND)
    const count = Math.ceil(shown.clientHeight / rowHeight) + 1 + 2 * ROWS_AROUND
    setView((before) =>
      before.first === first && before.count === count && before.rowHeight === rowHeight
        ? before
        : { first, count, rowHeight },
    )
  }
  useEffect(measure, [items])
  useEffect(() => {
    if (view.first + view.count + LOADED_AHEAD_ROWS > items.length) loadMore?.()
  }, [view, items.length, loadMore])
  if (items.length === 0 && loadMore === undefined) return <Empty>{empty}</Empty>
  const first = Math.min(view.first, Math.max(0, items.length - 1))
  const shown = sorted.slice(first, first + view.count)
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section ref={region} class="scroll long" aria-label={label} tabIndex={0} onScroll={measure}>
      <table aria-rowcount={loadMore === undefined ? items.length + 1 : -1}>
        <Head columns={columns} order={order} onSort={onSort} />
        <tbody>
          <Spacer height={first * view.rowHeight} />
          {shown.map((item, index) => (
            // A row that leaves the view becomes the one that enters it.
            <Row
              key={(first + index) % view.count}
              item={item}
              itemKey={keyOf(item)}
              columns={columns}
              index={first + index + 2}
            />
          ))}
          <Spacer height={Math.max(0, items.length - first - shown.length) * view.rowHeight} />
        </tbody>
      </table>
      {loadMore !== undefined && <p class="hint visually-hidden">{t('loading')}</p>}
    </section>
  )
}

/** Stands for the rows that are not in the document. */
function Spacer({ height }: { readonly height: number }) {
  if (height === 0) return null
  return (
    <tr class="spacer">
      <td style={{ height: `${height}px` }} />
    </tr>
  )
}
