import type { HttpFunction } from './app-functions.ts'

export type RouteValues = Readonly<Record<string, string>>

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
    for (const { fn, match } of rows) {
      if (!fn.methods.has(method)) continue
      const params = match(decodedPath)
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

/** The parameter values of a decoded path. Undefined if the path does not match the template. */
export type RouteTemplate = (decodedPath: string) => RouteValues | undefined

/** Literal segments, and a last `{*name}` for the rest of the path. */
const TEMPLATE = /^(?<literal>(?:[\w.-]+(?:\/(?!$)|$))*)(?:\{\*(?<name>\w+)\})?$/

/**
 * Compiles a template with the rules of ASP.NET's conventional router: case-insensitive, one slash may follow the path,
 * and the rest of the path begins with no empty segment.
 * @throws Error for other parameters, which the app does not use
 */
export function compileRoute(template: string): RouteTemplate {
  const groups = TEMPLATE.exec(template)?.groups
  if (groups === undefined) throw new Error('only literal segments and a last {*name} are supported')
  const { literal = '', name } = groups
  const segments = literal.split('/').filter((segment) => segment !== '')
  const path = segments.map((segment) => `/${segment.replaceAll('.', '\\.')}`).join('')
  const rest = name === undefined ? '' : '([^/].*)?'
  const pattern = new RegExp(path === '' ? `^/${rest}$` : `^${path}(?:/${rest})?$`, 'is')
  return (decodedPath) => {
    const match = pattern.exec(decodedPath)
    if (match === null) return undefined
    return name === undefined || match[1] === undefined ? {} : { [name]: match[1] }
  }
}
