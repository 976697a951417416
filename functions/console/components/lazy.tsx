import type { ComponentType } from 'preact'
import { reached } from '../api.ts'
import { useResource } from '../resource.ts'
import { ErrorNotice, Skeleton } from './loaded.tsx'

/** A component whose code is loaded when it is shown for the first time. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function Lazy(props: Props) {
    const found = useResource('', async () => {
      loaded ??= await reached(load)
      return { view: loaded }
    })
    const Shown = loaded ?? found.value?.view
    if (Shown !== undefined) return <Shown {...props} />
    // After a deployment, the files of the page that is open are gone: the page must be loaded again.
    if (found.error !== undefined) return <ErrorNotice error={found.error} retry={() => location.reload()} />
    return <Skeleton />
  }
}
