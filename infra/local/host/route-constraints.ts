/** Whether a captured value satisfies the constraint. */
export type RouteConstraint = (value: string) => boolean

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)$/
const between =
  (least: number, most: number) =>
  (value: string): boolean =>
    /^[+-]?\d+$/.test(value) && Number(value) >= least && Number(value) <= most

/** Inline constraints of ASP.NET by name, created from the text in their parentheses. */
const CONSTRAINTS: Record<string, (argument: string) => RouteConstraint> = {
  int: () => between(-(2 ** 31), 2 ** 31 - 1),
  long: () => between(-(2 ** 63), 2 ** 63 - 1),
  bool: () => (value) => /^(true|false)$/i.test(value),
  guid: () => (value) => /^(\{)?[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}(\})?$/i.test(value),
  alpha: () => (value) => /^[a-z]*$/i.test(value),
  decimal: () => (value) => NUMBER.test(value),
  double: () => (value) => NUMBER.test(value),
  float: () => (value) => NUMBER.test(value),
  required: () => (value) => value !== '',
  min: (argument) => between(wholeNumber(argument), Number.POSITIVE_INFINITY),
  max: (argument) => between(Number.NEGATIVE_INFINITY, wholeNumber(argument)),
  range: (argument) => between(...pair(argument)),
  length: (argument) => {
    const [least, most] = argument.includes(',') ? pair(argument) : [wholeNumber(argument), wholeNumber(argument)]
    return (value) => value.length >= least && value.length <= most
  },
  minlength: (argument) => (value) => value.length >= wholeNumber(argument),
  maxlength: (argument) => (value) => value.length <= wholeNumber(argument),
  regex: (argument) => {
    const pattern = new RegExp(argument, 'i')
    return (value) => pattern.test(value)
  },
}

/** https://learn.microsoft.com/aspnet/core/fundamentals/routing#route-constraints. @throws Error for an unknown constraint */
export function routeConstraint(name: string, argument: string): RouteConstraint {
  const constraint = Object.hasOwn(CONSTRAINTS, name) ? CONSTRAINTS[name] : undefined
  if (constraint === undefined) throw new Error(`unknown route constraint "${name}"`)
  return constraint(argument)
}

function wholeNumber(text: string): number {
  if (!/^\s*[+-]?\d+\s*$/.test(text)) throw new Error(`"${text}" is not an integer`)
  return Number(text)
}

function pair(text: string): [number, number] {
  const [least = '', most = ''] = text.split(',')
  return [wholeNumber(least), wholeNumber(most)]
}
