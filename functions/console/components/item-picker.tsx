import { useId, useState } from 'preact/hooks'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { ErrorNotice } from './loaded.tsx'

export type PickedItem = {
  readonly id: string
  readonly name: string
  /** What distinguishes items of one name. */
  readonly detail?: string
}

/** Milliseconds after the last key. */
const SEARCHED_AFTER_MS = 200

type ItemPickerProps = {
  readonly label: string
  /** Finds items by the start or a part of their names. */
  readonly search: (text: string, signal: AbortSignal) => Promise<readonly PickedItem[]>
  /** Items that are not offered. */
  readonly without?: readonly string[]
  readonly onPick: (item: PickedItem) => void
  readonly hint?: string | undefined
  /** Where the label cannot be seen. */
  readonly placeholder?: string
}

/** A search whose results are buttons. The number of results is announced. */
export function ItemPicker({ label, search, without = [], onPick, hint, placeholder }: ItemPickerProps) {
  const id = useId()
  const [text, setText] = useState('')
  const wanted = text.trim()
  const found = useResource(wanted, async (signal): Promise<readonly PickedItem[]> => {
    if (wanted === '') return []
    await pause(SEARCHED_AFTER_MS, signal)
    return search(wanted, signal)
  })
  const offered = found.value?.filter((item) => !without.includes(item.id)) ?? []
  return (
    <div class="field narrow">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="search"
        autocomplete="off"
        placeholder={placeholder}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {hint !== undefined && <small>{hint}</small>}
      {found.error !== undefined && <ErrorNotice error={found.error} retry={found.reload} />}
      <span class="visually-hidden" role="status">
        {wanted !== '' && found.value !== undefined && t('foundCount', { count: offered.length })}
      </span>
      {wanted !== '' && found.value !== undefined && offered.length === 0 && <small>{t('foundNone')}</small>}
      {offered.length > 0 && (
        <ul class="found">
          {offered.map((item) => (
            <li key={item.id}>
              <button
                type="button"
                onClick={() => {
                  onPick(item)
                  setText('')
                }}
              >
                <span>
                  {item.name}
                  {item.detail !== undefined && item.detail !== '' && <small class="hint">{item.detail}</small>}
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** Rejects when the signal aborts. */
export function pause(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, delayMs)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}

type PickedItemsProps = {
  readonly items: readonly PickedItem[]
  readonly onChange: (items: readonly PickedItem[]) => void
}

/** The chosen items, each with a button that removes it. */
export function PickedItems({ items, onChange }: PickedItemsProps) {
  if (items.length === 0) return null
  return (
    <ul class="chips">
      {items.map((item) => (
        <li key={item.id}>
          {item.name}
          <button
            type="button"
            class="quiet"
            aria-label={t('removeNamed', { name: item.name })}
            onClick={(event) => {
              focusPicker(event.currentTarget)
              onChange(items.filter(({ id }) => id !== item.id))
            }}
          >
            ×
          </button>
        </li>
      ))}
    </ul>
  )
}

/** The button that has the focus vanishes with its item. The picker beside the items is the next place to act. */
function focusPicker(button: HTMLElement): void {
  button.closest('ul')?.parentElement?.querySelector<HTMLElement>(':scope > .field input')?.focus()
}
