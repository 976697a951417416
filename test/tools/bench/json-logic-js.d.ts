declare module 'json-logic-js' {
  /** What the benchmark uses of the package, which comes without types. */
  const jsonLogic: {
    apply(rule: object, data: object): unknown
    add_operation(name: string, operation: (...values: never[]) => unknown): void
  }
  export = jsonLogic
}
