/** Known names shorter than this allow one different character, longer ones two. */
const SHORT_NAME_LENGTH = 6

/**
 * The known name that a name is probably meant to be: it differs only in case, or by a few characters. Undefined for a
 * known name, and for one that resembles none.
 */
export function nearMiss(name: string, known: readonly string[]): string | undefined {
  if (known.includes(name)) return undefined
  const lower = name.toLowerCase()
  return (
    known.find((candidate) => candidate.length === name.length && candidate.toLowerCase() === lower) ??
    known.find((candidate) => isWithin(candidate.length < SHORT_NAME_LENGTH ? 1 : 2, name, candidate))
  )
}

/** Whether the Levenshtein distance of two texts is at most this. Long texts of different lengths cost nothing. */
function isWithin(distance: number, left: string, right: string): boolean {
  if (Math.abs(left.length - right.length) > distance) return false
  let row = Array.from({ length: right.length + 1 }, (_, index) => index)
  for (let at = 1; at <= left.length; at += 1) {
    const next = [at]
    for (let index = 1; index <= right.length; index += 1) {
      const substituted = (row[index - 1] as number) + (left[at - 1] === right[index - 1] ? 0 : 1)
      next.push(Math.min(substituted, (row[index] as number) + 1, (next[index - 1] as number) + 1))
    }
    if (Math.min(...next) > distance) return false
    row = next
  }
  return (row.at(-1) as number) <= distance
}
