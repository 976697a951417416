/** Why an import does not take place, told in one line. */
export class ImportRefusal extends Error {
  /** 1: it was asked well and failed; 2: it was asked wrongly. */
  readonly exitCode: 1 | 2

  constructor(message: string, options: { readonly cause?: unknown; readonly exitCode?: 1 | 2 } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.exitCode = options.exitCode ?? 2
  }
}
