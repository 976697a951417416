import type { ComponentType } from 'preact'
import { useResource } from '../resource.ts'
import { Loaded } from './loaded.tsx'

/** A view whose code is loaded when it is first shown. A failed load says so, and can be repeated. */
export function lazyView<Props extends object>(
  name: string,
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  let loaded: ComponentType<Props> | undefined
  return function LazyView(props: Props) {
    const code = useResource(name, async () => {
      loaded ??= await load()
      return { View: loaded }
    })
    // A view that was loaded before is shown at once.
    const View = loaded
    if (View !== undefined) return <View {...props} />
    return <Loaded resource={code}>{({ View: Shown }) => <Shown {...props} />}</Loaded>
  }
}
