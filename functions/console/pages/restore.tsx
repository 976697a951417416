import type { CollectionVersion } from '../../../shared/domain/insight/collection-versions.ts'
import { Loaded } from '../components/loaded.tsx'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import { CollectionEditor } from './collection-editor.tsx'
import { JoinableEditor } from './joinable-editor.tsx'

type RestoreViewProps = { readonly parameters: { readonly id?: string; readonly version?: string } }

/** The form of a collection with an earlier version in it, and for a condition the effect of saving it. */
export function RestoreView({ parameters: { id = '', version = '' } }: RestoreViewProps) {
  const { api } = useConsole()
  const path = `/collections/beta/${id}/versions/${version}`
  const former = useResource(path, () => api.read<CollectionVersion>(path))
  return (
    <Loaded resource={former}>
      {(found) =>
        found.condition === null ? (
          <JoinableEditor parameters={{ id }} former={found} />
        ) : (
          <CollectionEditor parameters={{ id }} former={found} />
        )
      }
    </Loaded>
  )
}
