import { Component, createRef } from 'preact'
import { t } from '../language/texts.ts'

type OrderProps = {
  readonly index: number
  readonly count: number
  readonly onMove: (by: -1 | 1) => void
  readonly onRemove: () => void
}

/**
 * Moves and removes an item of a list by keyboard. The last item cannot be removed. Rendered again for another place.
 */
export class Order extends Component<OrderProps> {
  override shouldComponentUpdate(next: OrderProps): boolean {
    // New callbacks have new siblings, so that they must be kept; they do not change what is shown.
    this.#latest = next
    return next.index !== this.props.index || next.count !== this.props.count
  }

  #latest = this.props
  readonly #place = createRef<HTMLDivElement>()

  /** The focus goes to the button that adds items, because the one that has it vanishes. */
  readonly #remove = () => {
    this.#place.current?.closest('.group')?.querySelector<HTMLElement>(':scope > .adds button')?.focus()
    this.#latest.onRemove()
  }

  override render() {
    const { index, count } = this.props
    const buttons = [
      { text: t('moveUp'), sign: '↑', isPossible: index > 0, run: () => this.#latest.onMove(-1) },
      { text: t('moveDown'), sign: '↓', isPossible: index < count - 1, run: () => this.#latest.onMove(1) },
      { text: t('removeItem'), sign: '×', isPossible: count > 1, run: this.#remove },
    ]
    return (
      <div ref={this.#place} class="order">
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
}
