import type { Location } from './nodes.ts'

/** An error in a template. */
export type Fault = Location & { readonly message: string }

/** Records one fault. */
export type Report = (at: Location, message: string) => void

/** `file:line: message`, which editors and terminals show as a link. */
export const describeFault = ({ file, line, message }: Fault): string => `${file}:${line}: ${message}`

/** ` (did you mean X?)` with the candidate that is most similar, or an empty string if none is similar. */
export function suggestion(written: string, candidates: Iterable<string>): string {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(written.length / 3)) + 1
  for (const candidate of candidates) {
    const distance = editDistance(written.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best === undefined ? '' : ` (did you mean ${best}?)`
}

/** The Levenshtein distance of two texts. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let index = 0; index < from.length; index++) {
    const next = [index + 1]
    for (let column = 0; column < to.length; column++) {
      const replaced = (row[column] ?? 0) + (from[index] === to[column] ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
