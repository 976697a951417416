import type { HttpFunction } from './app-functions.ts'
import { compileRoute, type RouteTemplate, type RouteValues, splitPath } from './route-template.ts'

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

/** Decodes a raw path like Kestrel: `%2F` and invalid UTF-8 are not decoded. */
export function decodePath(rawPath: string): string {
  if (!rawPath.includes('%')) return rawPath
  return rawPath.replace(/(?:%(?!2f)[0-9a-f]{2})+/gi, (octets) => {
    try {
      return decodeURIComponent(octets)
    } catch {
      return octets
    }
  })
}

const sameText = (a: string, b: string): boolean => a.toLowerCase() === b.toLowerCase()

function byName(a: HttpFunction, b: HttpFunction): number {
  const [left, right] = [a.name.toUpperCase(), b.name.toUpperCase()]
  return left < right ? -1 : left > right ? 1 : 0
}
