import { useEffect, useState } from 'preact/hooks'
import { Badge, OptionalText } from '../components/fields.tsx'
import { Empty, ErrorNotice } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { numberOf, t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import { conditionOf, type EditedGroup, isComplete } from './condition-tree.ts'

/** Milliseconds after the last key. */
const PREVIEWED_AFTER_MS = 150
const NAMES_SHOWN = 50

type Named = { readonly objectId: string; readonly displayName: string | null }
type PreviewResult = {
  readonly preview: readonly Named[]
  readonly counts: { readonly preview: number; readonly added: number; readonly removed: number }
}

/** Who matches the tree, shortly after it was changed. Undefined for a tree that is not complete. */
export function usePreview(tree: EditedGroup, objectType: string, currentId: string | undefined) {
  const { api } = useConsole()
  const wanted = isComplete(tree) ? JSON.stringify([objectType, conditionOf(tree)]) : ''
  const [asked, setAsked] = useState(wanted)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), PREVIEWED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const resource = useResource(asked, async (signal): Promise<PreviewResult | undefined> => {
    if (asked === '') return undefined
    const [type, condition] = JSON.parse(asked)
    const current = currentId === undefined ? {} : { currentId }
    const body = { ...current, preview: { objectType: type, condition }, limit: NAMES_SHOWN }
    return (await api.send<PreviewResult>('POST', '/collections-criteria/beta/preview', { body, signal })).data
  })
  return { ...resource, isLoading: resource.isLoading || asked !== wanted }
}

type PreviewProps = {
  readonly preview: ReturnType<typeof usePreview>
  readonly isComplete: boolean
  readonly isNew: boolean
}

/** The counts are announced; the names are the first ones. */
export function Preview({ preview: { value, error, isLoading }, isComplete: isReady, isNew }: PreviewProps) {
  return (
    <Section title={t('previewNames')}>
      <div role="status">
        {!isReady ? (
          <p class="faint">{t('previewInvalid')}</p>
        ) : value === undefined ? (
          isLoading && <p class="faint">{t('previewing')}</p>
        ) : (
          <Counts {...value} isNew={isNew} />
        )}
      </div>
      {isReady && error !== undefined && !isLoading && <ErrorNotice error={error} />}
      {isReady && value !== undefined && <Names result={value} />}
    </Section>
  )
}

function Counts({ counts, isNew }: Pick<PreviewResult, 'counts'> & { readonly isNew: boolean }) {
  return (
    <>
      <p>
        <span class="big">{numberOf(counts.preview)}</span> {t('matches', { count: counts.preview })}
      </p>
      {!isNew && (
        <p class="facts">
          <Badge kind={counts.added > 0 ? 'good' : 'plain'}>{t('matchesAdded', { count: counts.added })}</Badge>
          <Badge kind={counts.removed > 0 ? 'bad' : 'plain'}>{t('matchesRemoved', { count: counts.removed })}</Badge>
        </p>
      )}
    </>
  )
}

function Names({ result: { preview, counts } }: { readonly result: PreviewResult }) {
  if (preview.length === 0) return <Empty>{t('previewEmpty')}</Empty>
  return (
    <>
      <ul class="names">
        {preview.map(({ objectId, displayName }) => (
          <li key={objectId}>
            <OptionalText value={displayName} />
          </li>
        ))}
      </ul>
      {counts.preview > preview.length && (
        <p class="hint">{t('firstOf', { shown: preview.length, count: counts.preview })}</p>
      )}
    </>
  )
}
