import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { type PageOf, withCursor } from './api.ts'

/** What a view has loaded. */
export type Resource<Value> = {
  readonly value: Value | undefined
  /** Why the last load failed. */
  readonly error: unknown
  readonly isLoading: boolean
  /** When `value` was loaded. */
  readonly loadedAt: Date | undefined
  reload(): void
}

type State<Value> = Omit<Resource<Value>, 'reload'>

/** Loads a value for a key, and again when the key changes. A value of another key is not shown. */
export function useResource<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>): Resource<Value> {
  const [state, setState] = useState<State<Value> & { readonly key: string }>({ ...LOADING, key })
  const [attempt, setAttempt] = useState(0)
  // `key` stands for all that `load` reads.
  useEffect(() => {
    const controller = new AbortController()
    setState((before) => (before.key === key ? { ...before, isLoading: true } : { ...LOADING, key }))
    load(controller.signal).then(
      (value) => {
        if (controller.signal.aborted) return
        setState({ value, error: undefined, isLoading: false, loadedAt: new Date(), key })
      },
      (error: unknown) => {
        if (controller.signal.aborted) return
        setState((before) => ({ ...before, error, isLoading: false }))
      },
    )
    return () => controller.abort()
  }, [key, attempt])
  const reload = useCallback(() => setAttempt((count) => count + 1), [])
  const current = state.key === key ? state : LOADING
  return { ...current, value: current.value as Value | undefined, reload }
}

const LOADING = { value: undefined, error: undefined, isLoading: true, loadedAt: undefined } as const

/** A list that is loaded page by page. */
export type Pages<Item> = Resource<readonly Item[]> & {
  /** Loads the next page. Undefined on the last page and while a page is loading. */
  readonly loadMore: (() => void) | undefined
  readonly isComplete: boolean
}

const NO_ITEMS: readonly never[] = []

type Rest<Item> = PageOf<Item> & { readonly first: PageOf<Item>; readonly isLoading: boolean; readonly error: unknown }

type ReadPage<Item> = (path: string, signal?: AbortSignal) => Promise<PageOf<Item>>

/**
 * Loads the first page of a path, and the others when they are asked for. A reload loads as many items as there were,
 * so that those in view stay.
 */
export function usePages<Item>(path: string, read: ReadPage<Item>): Pages<Item> {
  const shown = useRef({ path, count: 0 })
  const shownCount = () => (shown.current.path === path ? shown.current.count : 0)
  const { value: first, ...resource } = useResource(path, (signal) => readAtLeast(shownCount, path, read, signal))
  const [kept, setRest] = useState<Rest<Item> | undefined>(undefined)
  const rest =
    first === undefined || kept?.first === first
      ? kept
      : { first, items: NO_ITEMS, nextCursor: first.nextCursor, isLoading: false, error: undefined }
  const isLoaded = first !== undefined && rest !== undefined && !rest.isLoading && !resource.isLoading
  const loadMore = () => {
    if (!isLoaded || rest.nextCursor === undefined) return
    setRest({ ...rest, isLoading: true, error: undefined })
    const settle = (change: Partial<Rest<Item>>) =>
      setRest((now) => (now?.first === first ? { ...now, ...change, isLoading: false } : now))
    read(withCursor(path, rest.nextCursor)).then(
      ({ items, nextCursor }) => settle({ items: [...rest.items, ...items], nextCursor }),
      (error: unknown) => settle({ error }),
    )
  }
  const error = resource.error ?? rest?.error
  const items = rest?.items
  const value = useMemo(() => (first === undefined ? undefined : [...first.items, ...(items ?? [])]), [first, items])
  shown.current = { path, count: value?.length ?? 0 }
  return {
    ...resource,
    value,
    error,
    reload: rest?.error === undefined ? resource.reload : loadMore,
    loadMore: isLoaded && rest.nextCursor !== undefined && error === undefined ? loadMore : undefined,
    isComplete: first !== undefined && rest?.nextCursor === undefined,
  }
}

/** Pages from the first one, as one page. A page that was being loaded at the beginning can be shown before the end. */
async function readAtLeast<Item>(
  shownCount: () => number,
  path: string,
  read: ReadPage<Item>,
  signal: AbortSignal,
): Promise<PageOf<Item>> {
  let { items, nextCursor } = await read(path, signal)
  while (items.length < shownCount() && nextCursor !== undefined) {
    const next = await read(withCursor(path, nextCursor), signal)
    items = [...items, ...next.items]
    nextCursor = next.nextCursor
  }
  return { items, nextCursor }
}
