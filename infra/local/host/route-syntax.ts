export type RouteParameter = {
  readonly kind: 'parameter'
  readonly name: string
  readonly catchAll: boolean
  readonly optional: boolean
  readonly defaultValue: string | undefined
  readonly constraints: readonly RouteConstraint[]
}
type RoutePart = { readonly kind: 'literal'; readonly text: string } | RouteParameter
export type RouteSegment = readonly RoutePart[]

/**
 * Parses a route template like ASP.NET: literals, `{p}`, `{p?}`, `{p=default}`, `{*rest}`, `{p:constraint(...)}`,
 * several parts in one segment, doubled braces for literal ones.
 * @throws Error with the reason
 */
export function parseRoute(template: string): readonly RouteSegment[] {
  const segments = splitIntoParts(template.replace(/^~?\//, '').replace(/\/$/, ''))
  const names = new Set<string>()
  for (const [index, segment] of segments.entries()) {
    if (segment.length === 0) throw new Error('it contains two consecutive slashes')
    checkSegment(segment, index === segments.length - 1)
    for (const part of segment) {
      if (part.kind === 'literal') continue
      const name = part.name.toLowerCase()
      if (names.has(name)) throw new Error(`the parameter "${part.name}" is duplicated`)
      names.add(name)
    }
  }
  return segments
}

function splitIntoParts(template: string): RoutePart[][] {
  if (template === '') return []
  let segment: RoutePart[] = []
  const segments = [segment]
  let literal = ''
  const endLiteral = () => {
    if (literal !== '') segment.push({ kind: 'literal', text: literal })
    literal = ''
  }
  for (let index = 0; index < template.length; index++) {
    const character = template.charAt(index)
    if (isDoubledBrace(template, index)) {
      literal += character
      index++
    } else if (character === '{') {
      endLiteral()
      const end = closingBrace(template, index + 1)
      segment.push(parseParameter(template.slice(index + 1, end)))
      index = end
    } else if (character === '/') {
      endLiteral()
      segment = []
      segments.push(segment)
    } else if (character === '}' || character === '?') {
      throw new Error(`"${character}" is outside of a parameter`)
    } else literal += character
  }
  endLiteral()
  return segments
}

const isDoubledBrace = (text: string, index: number): boolean =>
  (text[index] === '{' || text[index] === '}') && text[index + 1] === text[index]

function closingBrace(template: string, from: number): number {
  for (let index = from; index < template.length; index++) {
    if (isDoubledBrace(template, index)) index++
    else if (template[index] === '}') return index
    else if (template[index] === '{') break
  }
  throw new Error('a brace is not closed')
}

function parseParameter(escaped: string): RouteParameter {
  const text = escaped.replaceAll('{{', '{').replaceAll('}}', '}')
  const head = /^(\*{0,2})([^*:=?{}/]+)/.exec(text)
  if (head === null) throw new Error(`"{${text}}" is not a valid parameter`)
  let rest = text.slice(head[0].length)
  const constraints: RouteConstraint[] = []
  for (;;) {
    const constraint = /^:(\w+)(?:\((.*?)\))?(?=[:=]|\??$)/s.exec(rest)
    if (constraint === null) break
    constraints.push(routeConstraint(constraint[1] ?? '', constraint[2] ?? ''))
    rest = rest.slice(constraint[0].length)
  }
  if (rest !== '' && rest !== '?' && !rest.startsWith('=')) throw new Error(`"{${text}}" is not a valid parameter`)
  const parameter: RouteParameter = {
    kind: 'parameter',
    name: head[2] ?? '',
    catchAll: head[1] !== '',
    optional: rest === '?',
    defaultValue: rest.startsWith('=') ? rest.slice(1) : undefined,
    constraints,
  }
  if (parameter.catchAll && parameter.optional) throw new Error(`"{${text}}" is always optional`)
  return parameter
}

function checkSegment(segment: RouteSegment, isLast: boolean): void {
  for (const [index, part] of segment.entries()) {
    if (part.kind === 'literal') continue
    const before = segment[index - 1]
    if (before?.kind === 'parameter')
      throw new Error(`"${part.name}" follows another parameter without text between them`)
    if (part.catchAll && (!isLast || segment.length > 1))
      throw new Error(`"${part.name}" must be the whole last segment`)
    if (segment.length === 1 || !part.optional) continue
    const followsDot = before?.kind === 'literal' && before.text === '.'
    if (index < segment.length - 1 || !followsDot)
      throw new Error(`"${part.name}" can be optional only after a final "."`)
  }
}

/** Whether a captured value satisfies the constraint. */
type RouteConstraint = (value: string) => boolean

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

/**
 * https://learn.microsoft.com/aspnet/core/fundamentals/routing#route-constraints.
 * @throws Error for an unknown constraint
 */
function routeConstraint(name: string, argument: string): RouteConstraint {
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
