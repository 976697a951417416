/** Characters as limits mean them, and as JSON Schema counts them: code points. Half a surrogate pair is one too. */
export function characterCount(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}
