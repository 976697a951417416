import type { HttpFunction } from './app-functions.ts'
import { parseRoute, type RouteParameter, type RouteSegment } from './route-syntax.ts'

export type RouteMatch = { readonly fn: HttpFunction; readonly params: RouteValues }

/** The function for a method and a decoded path. Undefined if no function matches both. */
export type RouteTable = (method: string, decodedPath: string) => RouteMatch | undefined

type Row = { readonly fn: HttpFunction; readonly text: string; readonly match: RouteTemplate }

/**
 * The order of the host: by function name, case-insensitive, without precedence of more specific templates. The first
 * match wins. https://github.com/Azure/azure-functions-host/issues/9876
 * @param fault receives the error of a function
 */
export function routeTable(
  functions: readonly HttpFunction[],
  routePrefix: string,
  fault: (functionName: string, problem: string) => void,
): RouteTable {
  const rows: Row[] = []
  for (const fn of functions.toSorted(byName)) {
    const route = fn.route.replace(/^\//, '')
    if (/^(admin|runtime)/i.test(route)) fault(fn.name, `the route "${route}" conflicts with a route of the host`)
    const text = routePrefix === '' ? route : `${routePrefix}/${route}`
    const twin = rows.find((row) => sameText(row.text, text) && !row.fn.methods.isDisjointFrom(fn.methods))
    if (twin !== undefined) fault(fn.name, `"${twin.fn.name}" has the same route "${text}" and methods`)
    try {
      rows.push({ fn, text, match: compileRoute(text) })
    } catch (error) {
      fault(fn.name, `the route "${text}" is invalid: ${error instanceof Error ? error.message : error}`)
    }
  }
  return (method, decodedPath) => {
    const path = splitPath(decodedPath)
    for (const { fn, match } of rows) {
      if (!fn.methods.has(method)) continue
      const params = match(path)
      if (params !== undefined) return { fn, params }
    }
    return undefined
  }
}

const sameText = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

function byName(a: HttpFunction, b: HttpFunction): number {
  const [left, right] = [a.name.toUpperCase(), b.name.toUpperCase()]
  return left < right ? -1 : left > right ? 1 : 0
}

export type RouteValues = Record<string, string>

/** A request path, split once for all templates. */
export type RequestPath = { readonly segments: readonly string[]; readonly endsWithSlash: boolean }

/** The parameter values of a path. Undefined if the path does not match the template. */
export type RouteTemplate = (path: RequestPath) => RouteValues | undefined

/** Captures the values of a segment. False if it does not match. */
type SegmentMatcher = (text: string, values: RouteValues) => boolean

/** Splits a decoded path. Ignores one trailing slash, but no other empty segments. */
export function splitPath(decodedPath: string): RequestPath {
  const segments = decodedPath.slice(1).split('/')
  const endsWithSlash = segments.at(-1) === ''
  if (endsWithSlash) segments.pop()
  return { segments, endsWithSlash }
}

/**
 * Compiles a template with the rules of the conventional router of ASP.NET, which differ from its endpoint router:
 * case-insensitive, no match for a path with an empty segment before the catch-all, no match for a failed constraint.
 * @throws Error with the reason
 */
export function compileRoute(template: string): RouteTemplate {
  const segments = parseRoute(template)
  const last = segments.at(-1)?.[0]
  const catchAll = last?.kind === 'parameter' && last.catchAll ? last : undefined
  const fixed = catchAll === undefined ? segments : segments.slice(0, -1)
  const matchers = fixed.map(segmentMatcher)
  return (path) => {
    if (path.segments.length > fixed.length && catchAll === undefined) return undefined
    const values: RouteValues = Object.create(null)
    for (const [index, matches] of matchers.entries()) {
      const text = path.segments[index]
      if (text === undefined ? !takeAbsent(fixed[index] ?? [], values) : text === '' || !matches(text, values)) {
        return undefined
      }
    }
    if (catchAll === undefined) return values
    if (path.segments[fixed.length] === '') return undefined
    return takeRest(catchAll, path, fixed.length, values) ? values : undefined
  }
}

function takeRest(parameter: RouteParameter, path: RequestPath, from: number, values: RouteValues): boolean {
  const hasRest = path.segments.length > from
  const rest = path.segments.slice(from).join('/') + (path.endsWithSlash ? '/' : '')
  return take(parameter, hasRest ? rest : parameter.defaultValue, values)
}

function takeAbsent(segment: RouteSegment, values: RouteValues): boolean {
  const [part] = segment
  if (segment.length !== 1 || part?.kind !== 'parameter') return false
  return (part.optional || part.defaultValue !== undefined) && take(part, part.defaultValue, values)
}

function take(parameter: RouteParameter, value: string | undefined, values: RouteValues): boolean {
  if (value === undefined) return true
  if (!parameter.constraints.every((fits) => fits(value))) return false
  values[parameter.name] = value
  return true
}

function segmentMatcher(segment: RouteSegment): SegmentMatcher {
  const [part] = segment
  if (segment.length > 1 || part === undefined) return complexMatcher(segment)
  if (part.kind === 'parameter') return (text, values) => take(part, text, values)
  const literal = part.text.toLowerCase()
  return (text) => text.toLowerCase() === literal
}

/** Several parts in one segment: the leftmost parameter is greedy. */
function complexMatcher(segment: RouteSegment): SegmentMatcher {
  const parameters = segment.filter((part) => part.kind === 'parameter')
  const lastPart = segment.at(-1)
  const endsOptional = lastPart?.kind === 'parameter' && lastPart.optional
  // With an optional end, `{name}.{extension?}`, matches the complete segment first, then the text before the dot.
  const shapes = [segmentPattern(segment), ...(endsOptional ? [segmentPattern(segment.slice(0, -2))] : [])]
  return (text, values) => {
    const match = shapes[0]?.exec(text) ?? (text.endsWith('.') ? null : (shapes[1]?.exec(text) ?? null))
    return match !== null && parameters.every((parameter, index) => take(parameter, match[index + 1], values))
  }
}

const segmentPattern = (segment: RouteSegment): RegExp =>
  new RegExp(
    `^${segment.map((part) => (part.kind === 'literal' ? literalPattern(part.text) : '(.+)')).join('')}$`,
    'is',
  )

const literalPattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
