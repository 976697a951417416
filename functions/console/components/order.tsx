import { useRef } from 'preact/hooks'
import { t } from '../language/texts.ts'

type OrderProps = {
  readonly index: number
  readonly count: number
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: () => void
}

/** Moves and removes an item of a list by keyboard. The last item cannot be removed. */
export function Order({ index, count, onMove, onRemove }: OrderProps) {
  const place = useRef<HTMLDivElement>(null)
  /** The focus goes to the button that adds items, because the one that has it vanishes. */
  const remove = () => {
    place.current?.closest('.group')?.querySelector<HTMLElement>(':scope > .actions button')?.focus()
    onRemove()
  }
  const buttons = [
    { text: t('moveUp'), sign: '↑', isPossible: index > 0, run: () => onMove(-1) },
    { text: t('moveDown'), sign: '↓', isPossible: index < count - 1, run: () => onMove(1) },
    { text: t('removeItem'), sign: '×', isPossible: count > 1, run: remove },
  ]
  return (
    <div ref={place} class="order">
      {buttons.map(({ text, sign, isPossible, run }) => (
        <button
          key={text}
          type="button"
          class="quiet"
          title={text}
          aria-label={text}
          // Not `disabled`: a moved item keeps the focus on its button when it arrives at the end.
          aria-disabled={!isPossible}
          onClick={() => isPossible && run()}
        >
          {sign}
        </button>
      ))}
    </div>
  )
}
