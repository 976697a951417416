/** Names that an object has in turn: a former one comes back. */
const NAME_COUNT = 3

/** The present external ids of objects whose sources give them others now and then. Each has a first one, such as `P3`. */
export class SourceNames {
  /** By the first one. */
  readonly present = new Map<string, string>()

  /** The present external id of the object that was called `first` at first. */
  of(first: string): string {
    return this.present.get(first) ?? first
  }

  /** Gives the object its next external id. @returns It, and the former one. */
  change(first: string): { readonly former: string; readonly name: string } {
    const former = this.of(first)
    const number = (Number(former.split('.')[1] ?? 0) + 1) % NAME_COUNT
    const name = number === 0 ? first : `${first}.${number}`
    this.present.set(first, name)
    return { former, name }
  }
}
