import type { ComponentChildren } from 'preact'
import { Empty } from './loaded.tsx'

type Column<Item> = {
  readonly head: string
  readonly cell: (item: Item) => ComponentChildren
  readonly isNumber?: boolean
}

type ListProps<Item> = {
  readonly label: string
  readonly items: readonly Item[]
  readonly keyOf: (item: Item) => string
  readonly columns: readonly Column<Item>[]
  readonly empty: string
}

/** A table of records. It scrolls sideways where it is wider than the window. */
export function List<Item>({ label, items, keyOf, columns, empty }: ListProps<Item>) {
  if (items.length === 0) return <Empty>{empty}</Empty>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard (WCAG 2.1.1)
    <section class="scroll" aria-label={label} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {columns.map(({ head, isNumber }) => (
              <th key={head} scope="col" class={isNumber ? 'number' : undefined}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <tr key={keyOf(item)}>
              {columns.map(({ head, cell, isNumber }) => (
                <td key={head} class={isNumber ? 'number' : undefined}>
                  {cell(item)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
