import { signal } from '@preact/signals'

/** The path of the view, below `/console`. */
export const viewPath = signal(viewPathOf(location.pathname))

const BASE = '/console'

/** Shows the view of a path such as `/links`. */
export function navigate(path: string): void {
  history.pushState(null, '', BASE + path)
  viewPath.value = path
}

export const hrefOf = (path: string): string => BASE + path

/** Shows the view of a link within the console without loading the page. Other links are left to the browser. */
export function followLinks(): void {
  addEventListener('popstate', () => {
    viewPath.value = viewPathOf(location.pathname)
  })
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (link === null || !isPlain || link.origin !== location.origin || !link.pathname.startsWith(BASE)) return
    event.preventDefault()
    navigate(viewPathOf(link.pathname))
  })
}

function viewPathOf(pathname: string): string {
  const path = pathname.slice('/console'.length).replace(/\/$/, '')
  return path === '' ? '/' : path
}

/** The parameters of a path if it has the form of the pattern: `/links/:id`. */
export function matched(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const [wanted, given] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== given.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, segment] of wanted.entries()) {
    const value = given[index] ?? ''
    if (segment.startsWith(':')) parameters[segment.slice(1)] = decodeURIComponent(value)
    else if (segment !== value) return undefined
  }
  return parameters
}
