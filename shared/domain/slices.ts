/** A list in pieces of one size, the last one perhaps shorter. */
export function slices<T>(all: readonly T[], sizeCount: number): T[][] {
  const made: T[][] = []
  for (let start = 0; start < all.length; start += sizeCount) made.push(all.slice(start, start + sizeCount))
  return made
}
