/**
 * The other case of each UTF-16 unit that has one of its own, whatever stands beside it. `DEPENDS` marks the rest: letters
 * that become several (ß), that look at their neighbours (Σ), and halves of pairs.
 */
export type LetterCase = Uint16Array

/** A unit that no letter ever becomes. */
export const DEPENDS = 0xffff

let upper: LetterCase | undefined
let lower: LetterCase | undefined

/** Made when first asked for: some milliseconds of work. */
export function upperCase(): LetterCase {
  upper ??= tableOf((text) => text.toUpperCase())
  return upper
}

/** Made when first asked for: some milliseconds of work. */
export function lowerCase(): LetterCase {
  lower ??= tableOf((text) => text.toLowerCase())
  lower[FINAL_SIGMA_CAPITAL] = DEPENDS
  return lower
}

/** Its small letter is another at the end of a word. Unicode, SpecialCasing, "Final_Sigma": the only such letter. */
const FINAL_SIGMA_CAPITAL = 0x3a3

function tableOf(inCase: (text: string) => string): LetterCase {
  return Uint16Array.from({ length: 0x10000 }, (_, unit) => {
    if (unit >= 0xd800 && unit <= 0xdfff) return DEPENDS
    const changed = inCase(String.fromCharCode(unit))
    return changed.length === 1 ? changed.charCodeAt(0) : DEPENDS
  })
}
