import type { Method, Route, RouteGroup } from './route.ts'

/** The outcome of matching a method and a path against a route group. */
export type RouteMatch =
  | { readonly outcome: 'found'; readonly route: Route; readonly path: Readonly<Record<string, string>> }
  | { readonly outcome: 'other-methods'; readonly allow: readonly string[] }
  | { readonly outcome: 'none' }

/** Routes with the same path shape, at most one per method. */
type Shape = { readonly segments: readonly string[]; readonly routes: Map<Method, Route> }

/**
 * Returns the matcher of a route group. From the left, a literal segment takes precedence over a parameter, regardless
 * of the method: `DELETE /search` does not match `DELETE /{id}`. Paths are case-sensitive; a trailing slash is ignored.
 * @throws Error when two routes have the same method and shape.
 */
export function routeMatcher(group: RouteGroup): (method: string, rawPath: string) => RouteMatch {
  const prefix = `/${group.prefix}`
  const shapes = orderedShapes(group.routes)
  return (method, rawPath) => {
    if (rawPath !== prefix && !rawPath.startsWith(`${prefix}/`)) return { outcome: 'none' }
    const segments = decodedSegments(rawPath.slice(prefix.length))
    if (segments === undefined) return { outcome: 'none' }
    const shape = shapes.find((candidate) => fits(candidate, segments))
    if (shape === undefined) return { outcome: 'none' }
    const route = shape.routes.get(method as Method)
    if (route === undefined) return { outcome: 'other-methods', allow: allowed(shape) }
    return { outcome: 'found', route, path: parameters(shape, segments) }
  }
}

/** HEAD is allowed wherever GET is. */
function allowed({ routes }: Shape): string[] {
  return [...routes.keys(), ...(routes.has('GET') ? ['HEAD'] : [])].sort()
}

function orderedShapes(routes: readonly Route[]): Shape[] {
  const shapes = new Map<string, Shape>()
  for (const route of routes) {
    const segments = route.path.split('/').filter((segment) => segment !== '')
    const key = segments.map((segment) => (isParameter(segment) ? '{}' : segment)).join('/')
    const shape = shapes.get(key) ?? { segments, routes: new Map() }
    if (shape.routes.has(route.method)) throw new Error(`Two routes for ${route.method} ${route.path}`)
    shape.routes.set(route.method, route)
    shapes.set(key, shape)
  }
  return [...shapes.values()].sort(literalFirst)
}

function literalFirst(left: Shape, right: Shape): number {
  for (const [index, segment] of left.segments.entries()) {
    const difference = Number(isParameter(segment)) - Number(isParameter(right.segments[index] ?? ''))
    if (difference !== 0) return difference
  }
  return 0
}

function isParameter(segment: string): boolean {
  return segment.startsWith('{')
}

/** Undefined for a path that cannot be decoded, or that has an empty segment before its end. */
function decodedSegments(rest: string): string[] | undefined {
  const raw = rest.split('/').slice(1)
  if (raw.at(-1) === '') raw.pop()
  try {
    const segments = raw.map(decodeURIComponent)
    return segments.includes('') ? undefined : segments
  } catch {
    return undefined
  }
}

function fits(shape: Shape, segments: readonly string[]): boolean {
  return (
    shape.segments.length === segments.length &&
    shape.segments.every((segment, index) => isParameter(segment) || segment === segments[index])
  )
}

/** Parameters are named as in the first route of the shape. */
function parameters(shape: Shape, segments: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    shape.segments.flatMap((segment, index) =>
      isParameter(segment) ? [[segment.slice(1, -1), segments[index] ?? '']] : [],
    ),
  )
}
