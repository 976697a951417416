/** The reason why an import does not run, in one line. */
export class ImportError extends Error {
  /** 1 for a failure at run time, 2 for invalid arguments. */
  readonly exitCode: 1 | 2

  constructor(message: string, options: { readonly cause?: unknown; readonly exitCode?: 1 | 2 } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause })
    this.exitCode = options.exitCode ?? 2
  }
}
