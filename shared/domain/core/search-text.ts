/** A lower-case i with the dot that İ keeps when it is lower-cased. */
const DOTTED_LOWER_I = 'i\u0307'

/**
 * The form in which searches compare texts: NFC, lower case by Unicode, without the dot that `İ` leaves behind, so that
 * `İpek` is found by `ipek`. Decisions, section 13.
 */
export function foldedText(text: string): string {
  return text.normalize('NFC').toLowerCase().replaceAll(DOTTED_LOWER_I, 'i').normalize('NFC')
}

/** The order of names in lists: that of the root locale. Decisions, section 13. */
export const compareNames: (one: string, other: string) => number = new Intl.Collator('und').compare
