import type { HttpFunction } from './app-functions.ts'
import { compileRoute, type RouteTemplate, type RouteValues, splitPath } from './route-template.ts'

export type RouteMatch = { readonly fn: HttpFunction; readonly params: RouteValues }

/** The function for a method and a decoded path; undefined when there is none, also when only the method differs. */
export type RouteTable = (method: string, decodedPath: string) => RouteMatch | undefined

type Row = { readonly fn: HttpFunction; readonly text: string; readonly match: RouteTemplate }

/**
 * The host's order: no precedence by how specific a template is, but case-insensitively by the functions' names; the
 * first that matches wins. https://github.com/Azure/azure-functions-host/issues/9876
 * @param fault is told what is wrong with which function
 */
export function routeTable(
  functions: readonly HttpFunction[],
  routePrefix: string,
  fault: (functionName: string, problem: string) => void,
): RouteTable {
  const rows: Row[] = []
  for (const fn of functions.toSorted(byName)) {
    const route = fn.route.replace(/^\//, '')
    if (/^(admin|runtime)/i.test(route)) fault(fn.name, `the route "${route}" conflicts with the host's own`)
    const text = routePrefix === '' ? route : `${routePrefix}/${route}`
    const twin = rows.find((row) => sameText(row.text, text) && !row.fn.methods.isDisjointFrom(fn.methods))
    if (twin !== undefined)
      fault(fn.name, `the route "${text}" is also that of "${twin.fn.name}", for the same methods`)
    try {
      rows.push({ fn, text, match: compileRoute(text) })
    } catch (error) {
      fault(fn.name, `the route "${text}" cannot be read: ${error instanceof Error ? error.message : error}`)
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

/** Decodes a raw path as Kestrel does: `%2F` stays, and so does what is no UTF-8. */
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
