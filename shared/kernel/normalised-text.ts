/** Printable ASCII without blanks at its ends: most texts. */
const PLAIN = /^[!-~](?:[ -~]*[!-~])?$/

/** A text as it is stored and compared: in composed form (NFC), without blanks at its ends. Inner blanks stay. */
export function normalisedText(text: string): string {
  return PLAIN.test(text) ? text : text.normalize('NFC').trim()
}

/** A value of a condition in normalised form. One of blanks only stays: without them, every text would contain it. */
export function normalisedOperand(text: string): string {
  const normalised = normalisedText(text)
  return normalised === '' ? text : normalised
}
