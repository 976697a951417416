declare module 'autocannon' {
  type Options = {
    readonly url: string
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    readonly headers?: Readonly<Record<string, string>>
    readonly requests?: readonly { readonly path: string }[]
  }
  type Result = {
    readonly requests: { readonly average: number }
    /** Milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number }
    readonly errors: number
    readonly non2xx: number
  }
  /** What the benchmark uses of the package, which comes without types. */
  function autocannon(options: Options): Promise<Result>
  export = autocannon
}
