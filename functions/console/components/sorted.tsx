import type { ComponentChildren } from 'preact'
import { useMemo, useState } from 'preact/hooks'
import { compareByLocale, t } from '../language/texts.ts'
import { hrefOf, queryValue, setQueryValue } from '../router.ts'
import { OptionalText } from './fields.tsx'

/** What a column of a table or card list is ordered by. Records without a value come last. */
type SortValue = string | number | null | undefined

type Cell<Item> = { readonly cell: (item: Item) => ComponentChildren; readonly text?: undefined }
type TextCell<Item> = {
  readonly cell?: undefined
  /** The text of the cell, or a dash. The column is sortable by it. */
  readonly text: (item: Item) => string | null | undefined
  /** The view that the text opens. */
  readonly path?: (item: Item) => string | undefined
}

export type Column<Item> = (Cell<Item> | TextCell<Item>) & {
  readonly head: string
  readonly isNumber?: boolean
  /** Makes the column sortable. */
  readonly sortBy?: (item: Item) => SortValue
  /** The cell shows the item and has no state of its own: while scrolling, its elements are used for other items. */
  readonly isReused?: boolean
}

export function cellOf<Item>(column: Cell<Item> | TextCell<Item>, item: Item): ComponentChildren {
  if (column.cell !== undefined) return column.cell(item)
  const [text, path] = [column.text(item), column.path?.(item)]
  return path === undefined ? <OptionalText value={text} /> : <a href={hrefOf(path)}>{text}</a>
}

/** The order of a list: the place of a column, from 1, negative for descending; 0 for the order of the list itself. */
export type SortOrder = { readonly order: number; readonly onSort: ((order: number) => void) | undefined }

/**
 * The items in the order that the person has chosen.
 * @param parameter of the address that keeps the order; without it, the order is kept while the list is shown.
 * @param isComplete Only lists that are loaded to the end can be ordered.
 */
export function useSorted<Item>(
  items: readonly Item[],
  columns: readonly Column<Item>[],
  parameter: string | undefined,
  isComplete: boolean,
): { readonly sorted: readonly Item[] } & SortOrder {
  const [own, setOwn] = useState(0)
  const chosen = parameter === undefined ? own : Number(queryValue(parameter) ?? 0)
  const column = columns[Math.abs(chosen) - 1]
  const sortBy = column?.sortBy ?? column?.text
  const order = isComplete && sortBy !== undefined ? chosen : 0
  const sorted = useMemo(() => {
    if (order === 0 || sortBy === undefined) return items
    const direction = order < 0 ? -1 : 1
    return items.toSorted((left, right) => compareValues(sortBy(left), sortBy(right), direction))
  }, [items, order])
  const onSort = (next: number) =>
    parameter === undefined ? setOwn(next) : setQueryValue(parameter, next === 0 ? '' : String(next))
  return { sorted, order, onSort: isComplete ? onSort : undefined }
}

function compareValues(left: SortValue, right: SortValue, direction: 1 | -1): number {
  const [lacksOne, lacksOther] = [left ?? '', right ?? ''].map((value) => value === '') as [boolean, boolean]
  if (lacksOne || lacksOther) return Number(lacksOne) - Number(lacksOther)
  if (typeof left === 'number' && typeof right === 'number') return direction * (left - right)
  return direction * compareByLocale(String(left), String(right))
}

type HeadProps<Item> = SortOrder & { readonly columns: readonly Column<Item>[] }

/** The heads of the columns. Those that can be ordered are buttons. */
export function Head<Item>({ columns, order, onSort }: HeadProps<Item>) {
  return (
    <thead>
      <tr>
        {columns.map(({ head, isNumber, text, sortBy = text }, index) => {
          const place = index + 1
          const direction = order === place ? 'ascending' : order === -place ? 'descending' : undefined
          return (
            <th key={head} scope="col" class={isNumber ? 'number' : undefined} aria-sort={direction}>
              {sortBy === undefined || onSort === undefined ? (
                head
              ) : (
                <button
                  type="button"
                  class="sort"
                  title={t('sortBy', { head })}
                  onClick={() => onSort(order === place ? -place : place)}
                >
                  {head}
                  <span aria-hidden="true">
                    {direction === 'ascending' ? ' ↑' : direction === 'descending' ? ' ↓' : ''}
                  </span>
                </button>
              )}
            </th>
          )
        })}
      </tr>
    </thead>
  )
}
