/**
 * Size in KB, request units of a read, of a write.
 * https://learn.microsoft.com/azure/cosmos-db/understand-request-unit-consumption
 */
const POINTS = [
  [1, 1, 4.95],
  [4, 1.14, 6.67],
  [16, 1.67, 9.52],
  [64, 4.76, 22.67],
  [1024, 145.9, 625],
] as const

// The figures are estimates. Use them to compare alternatives, not to plan a budget.

/** Request units to read an item of this size. */
export const readCharge = (sizeBytes: number): number => interpolated(sizeBytes / 1024, 1)

/** Request units to write an item of this size. */
export const writeCharge = (sizeBytes: number): number => interpolated(sizeBytes / 1024, 2)

/** Request units of a query that read this number of rows. */
export const queryCharge = (rowCount: number): number => rounded(2.3 + 0.1 * rowCount)

function interpolated(sizeKb: number, column: 1 | 2): number {
  const above = Math.max(
    1,
    POINTS.findIndex(([kb]) => kb >= sizeKb),
  )
  const [from, to] = [POINTS[above - 1], POINTS[above]]
  if (from === undefined || to === undefined || sizeKb <= from[0]) return POINTS[0][column]
  return rounded(from[column] + ((to[column] - from[column]) * (sizeKb - from[0])) / (to[0] - from[0]))
}

const rounded = (units: number): number => Math.round(units * 100) / 100
