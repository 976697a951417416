import { useId, useState } from 'preact/hooks'
import { t } from '../language/texts.ts'
import { type PickedItem, searchPeople } from '../object-names.ts'
import { type Resource, useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import { ErrorNotice } from './loaded.tsx'

/** Milliseconds after the last key. */
const SEARCHED_AFTER_MS = 150

/** What a search finds for a text, shortly after it was typed. Nothing for an empty one. */
export function useFound<Item>(
  text: string,
  search: (text: string, signal: AbortSignal) => Promise<readonly Item[]>,
): Resource<readonly Item[]> {
  return useResource(text, async (signal) => {
    if (text === '') return []
    await shortPause(signal)
    return search(text, signal)
  })
}

type ItemPickerProps = {
  readonly label: string
  /** Finds items by the start or a part of their names. Default: people. */
  readonly search?: ((text: string, signal: AbortSignal) => Promise<readonly PickedItem[]>) | undefined
  /** Items that are not offered. */
  readonly without?: readonly string[]
  readonly onPick: (item: PickedItem) => void
  readonly hint?: string | undefined
  /** Where the label cannot be seen. */
  readonly placeholder?: string
}

/** A search whose results are buttons. The number of results is announced. */
export function ItemPicker({ label, search, without = [], onPick, hint, placeholder }: ItemPickerProps) {
  const { api } = useConsole()
  const id = useId()
  const [text, setText] = useState('')
  const wanted = text.trim()
  const found = useFound(wanted, search ?? ((name, signal) => searchPeople(api, name, signal)))
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

/** A pause in typing. Rejects when the signal aborts. */
export function shortPause(signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, SEARCHED_AFTER_MS)
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
