/** A value of the data, and how many objects have it. */
export type Example = { readonly value: string; readonly objectCount: number }

/**
 * The value that is probably meant by a text that no object has: the one with the fewest different characters, in any
 * case; one that begins with the text; or undefined.
 */
export function nearestExample(text: string, examples: readonly Example[]): Example | undefined {
  const wanted = folded(text)
  if (wanted === '') return undefined
  const allowed = Math.max(1, Math.floor(wanted.length / 3))
  let nearest: Example | undefined
  let least = allowed + 1
  for (const example of examples) {
    const distance = editDistance(wanted, folded(example.value), least)
    if (distance >= least) continue
    nearest = example
    least = distance
  }
  return nearest ?? examples.find(({ value }) => folded(value).startsWith(wanted))
}

const folded = (text: string): string => text.normalize('NFC').trim().toLowerCase()

/** Levenshtein's distance of two texts; `enough` or more where it is not less. */
export function editDistance(left: string, right: string, enough: number): number {
  const [from, to] = [[...left], [...right]]
  if (Math.abs(from.length - to.length) >= enough) return enough
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [index, character] of from.entries()) {
    const next = [index + 1]
    for (const [place, wanted] of to.entries()) {
      const replaced = (row[place] ?? 0) + (character === wanted ? 0 : 1)
      next.push(Math.min(replaced, (row[place + 1] ?? 0) + 1, (next[place] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? enough
}
