import { REFUSALS, type RefusalCode, type RefusalKind } from './refusal-register.ts'

/** One entry of the envelope's `errors`. `target`: JSON pointer into the body, or the name of a parameter. */
export type RefusalEntry = { readonly code: RefusalCode; readonly message: string; readonly target?: string }

/** An error that is returned to the caller. Has one entry or, for invalid input, one entry for each error. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly entries: readonly RefusalEntry[]
  /** Seconds after which the caller can repeat the request; undefined when repeating does not help. */
  readonly retryAfterS: number | undefined
  readonly kind: RefusalKind

  constructor(code: RefusalCode, message: string = REFUSALS[code].message, target?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.entries = [refusalEntry(code, message, target)]
    this.retryAfterS = undefined
    this.kind = REFUSALS[code].kind
  }

  /** A refusal of a request that the caller can repeat later. @param retryAfterS Seconds; at least 1. */
  static retryAfter(code: RefusalCode, retryAfterS: number, message?: string): Refusal {
    return Object.assign(new Refusal(code, message), { retryAfterS })
  }

  /** A refusal with several entries. The first entry sets code and message. At least one entry is required. */
  static ofAll(entries: readonly RefusalEntry[]): Refusal {
    const first = entries[0]
    if (first === undefined) throw new Error('A refusal requires at least one entry')
    return Object.assign(new Refusal(first.code, first.message), { entries })
  }

  /**
   * A refusal of a valid request that conflicts with other records, with a code that is an invalid request elsewhere.
   * The route lists the code in `conflicts`.
   */
  static conflict(code: RefusalCode, message: string, target: string): Refusal {
    return Object.assign(new Refusal(code, message, target), { kind: 'conflict' })
  }
}

/** An entry with the given message; by default the message of the register. */
export function refusalEntry(
  code: RefusalCode,
  message: string = REFUSALS[code].message,
  target?: string,
): RefusalEntry {
  return target === undefined ? { code, message } : { code, message, target }
}

/** Throws the entries as one refusal. Does nothing when the list is empty. */
export function throwIfRefused(entries: readonly RefusalEntry[]): void {
  if (entries.length > 0) throw Refusal.ofAll(entries)
}
