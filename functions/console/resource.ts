import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
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

/**
 * Loads the first page of a path, and the others when they are asked for. A reload starts with the first page again.
 */
export function usePages<Item>(
  path: string,
  read: (path: string, signal: AbortSignal) => Promise<PageOf<Item>>,
): Pages<Item> {
  const { value: first, ...resource } = useResource(path, (signal) => read(path, signal))
  const [kept, setRest] = useState<Rest<Item> | undefined>(undefined)
  const rest =
    first === undefined || kept?.first === first
      ? kept
      : { first, items: NO_ITEMS, nextCursor: first.nextCursor, isLoading: false, error: undefined }
  const isWaiting = first === undefined || rest === undefined || rest.isLoading || rest.nextCursor === undefined
  const loadMore = () => {
    if (isWaiting) return
    setRest({ ...rest, isLoading: true, error: undefined })
    const settle = (change: Partial<Rest<Item>>) =>
      setRest((now) => (now?.first === first ? { ...now, ...change, isLoading: false } : now))
    read(withCursor(path, rest.nextCursor), new AbortController().signal).then(
      ({ items, nextCursor }) => settle({ items: [...rest.items, ...items], nextCursor }),
      (error: unknown) => settle({ error }),
    )
  }
  const error = resource.error ?? rest?.error
  const items = rest?.items
  const value = useMemo(() => (first === undefined ? undefined : [...first.items, ...(items ?? [])]), [first, items])
  return {
    ...resource,
    value,
    error,
    reload: rest?.error === undefined ? resource.reload : loadMore,
    loadMore: isWaiting || error !== undefined ? undefined : loadMore,
    isComplete: first !== undefined && rest?.nextCursor === undefined,
  }
}
