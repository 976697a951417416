/** Characters with which spreadsheets begin a formula. */
const FORMULA = /^[=+\-@\t\r]/

/** A table as CSV for spreadsheets: UTF-8 with a mark, and no cell that is read as a formula. */
export function csvOf(rows: readonly (readonly (string | null)[])[]): string {
  const cell = (value: string | null) => {
    const text = value ?? ''
    return `"${(FORMULA.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`
  }
  return `\ufeff${rows.map((row) => row.map(cell).join(',')).join('\r\n')}\r\n`
}
