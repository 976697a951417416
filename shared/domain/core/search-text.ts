/** The lower-case sigma at the end of a word. A search text can end anywhere in a name. */
const FINAL_SIGMA = 'ς'

/** A lower-case i with the dot that İ keeps when it is lower-cased. */
const DOTTED_LOWER_I = 'i\u0307'

/**
 * The form in which searches compare texts: NFC, lower case by Unicode, without the dot that `İ` leaves behind and with
 * one form of sigma, so that `İpek` is found by `ipek`.
 */
export function foldedText(text: string): string {
  const lower = text.normalize('NFC').toLowerCase().replaceAll(DOTTED_LOWER_I, 'i').replaceAll(FINAL_SIGMA, 'σ')
  return lower.normalize('NFC')
}

/** The order of names in lists: that of the root locale. */
export const compareNames: (left: string, right: string) => number = new Intl.Collator('und').compare
