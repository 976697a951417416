import { useCallback, useEffect, useState } from 'preact/hooks'

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
