import { signal } from '@preact/signals'

/** The path of the view, below `/console`. */
export const viewPath = signal(viewPathOf(location.pathname))

/** What the address says of the view: its search, filter and order. */
const viewQuery = signal(location.search)

const BASE = '/console'

/** What the last action has done: announced above the next view. */
export const outcome = signal('')

/** What a view would lose if the person left it; undefined when nothing is unsaved. */
let unsavedQuestion: string | undefined

/** Asks before the person leaves the view, until it is called without a question. */
export function askBeforeLeaving(question: string | undefined): void {
  unsavedQuestion = question
}

/** Shows the view of a path such as `/links`. @param done what an action has done, to be announced. */
export function navigate(path: string, done = ''): void {
  unsavedQuestion = undefined
  history.pushState(null, '', BASE + path)
  show(done)
}

/** Shows the view of a path that the person has chosen, unless they stay with what is not saved. */
export function leaveFor(path: string): void {
  if (unsavedQuestion === undefined || confirm(unsavedQuestion)) navigate(path)
}

/** Shows the view of the address. */
function show(done: string): void {
  outcome.value = done
  readAddress()
  scrollTo(0, 0)
}

/** Reads the address again, for example after a sign-in has changed it. */
export function readAddress(): void {
  viewPath.value = viewPathOf(location.pathname)
  viewQuery.value = location.search
}

/** A parameter of the address, such as a search text; undefined when it is absent. */
export function queryValue(name: string): string | undefined {
  return new URLSearchParams(viewQuery.value).get(name) ?? undefined
}

/** Sets a parameter of the address, or removes it with an empty value. The view stays as it is. */
export function setQueryValue(name: string, value: string): void {
  const parameters = new URLSearchParams(viewQuery.value)
  if (value === '') parameters.delete(name)
  else parameters.set(name, value)
  const query = parameters.size === 0 ? '' : `?${parameters}`
  history.replaceState(null, '', location.pathname + query)
  viewQuery.value = query
}

export const hrefOf = (path: string): string => BASE + path

/** Shows the view of a link within the console without loading the page. Other links are left to the browser. */
export function followLinks(): void {
  addEventListener('popstate', returnTo)
  addEventListener('beforeunload', (event) => {
    if (unsavedQuestion !== undefined) event.preventDefault()
  })
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null
    const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
    if (link === null || !isPlain || link.origin !== location.origin || !link.pathname.startsWith(BASE)) return
    event.preventDefault()
    if (isWithinView(link)) document.getElementById(link.hash.slice(1))?.focus()
    else leaveFor(viewPathOf(link.pathname) + link.search)
  })
}

/** Whether a link leads to a part of the current view. */
function isWithinView({ hash, pathname, search }: HTMLAnchorElement): boolean {
  return hash !== '' && pathname === location.pathname && search === location.search
}

/** Shows the view to which the browser has gone back or forward, unless the person stays with what is not saved. */
function returnTo(): void {
  if (unsavedQuestion !== undefined && !confirm(unsavedQuestion)) {
    // The address is already that of the other view.
    history.pushState(null, '', BASE + viewPath.value + viewQuery.value)
    return
  }
  unsavedQuestion = undefined
  show('')
}

function viewPathOf(pathname: string): string {
  const path = pathname.slice('/console'.length).replace(/\/$/, '')
  return path === '' ? '/' : path
}

/** The parameters of a path if it has the form of the pattern: `/links/:id`. */
export function matched(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const [wanted, actual] = [pattern.split('/'), path.split('/')]
  if (wanted.length !== actual.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [index, segment] of wanted.entries()) {
    const value = actual[index] ?? ''
    if (!segment.startsWith(':')) {
      if (segment !== value) return undefined
      continue
    }
    const parameter = decoded(value)
    if (parameter === undefined) return undefined
    parameters[segment.slice(1)] = parameter
  }
  return parameters
}

/** Undefined for a segment that was cut off in the middle of a character: `%E0%A4`. */
function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment)
  } catch (fault) {
    if (fault instanceof URIError) return undefined
    throw fault
  }
}
