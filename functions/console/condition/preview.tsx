import { useEffect, useState } from 'preact/hooks'
import type { ConditionWarning } from '../../../shared/domain/collections/condition-warnings.ts'
import { OptionalText } from '../components/fields.tsx'
import { Empty, ErrorNotice } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { PeopleNumber } from '../components/people-dialog.tsx'
import { t } from '../language/texts.ts'
import { peopleMatching } from '../listed-people.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import type { CompletePart } from './complete-part.ts'

/** Milliseconds after the last key. */
const PREVIEWED_AFTER_MS = 150
const NAMES_SHOWN = 50

type Named = { readonly objectId: string; readonly displayName: string | null }
type PreviewResult = {
  readonly preview: readonly Named[]
  readonly counts: { readonly preview: number; readonly added: number; readonly removed: number }
  readonly warnings: readonly ConditionWarning[]
}

/** Who matches the complete part, shortly after it was changed. Undefined without one. */
export function usePreview({ condition }: CompletePart, objectType: string, currentId: string | undefined) {
  const { api } = useConsole()
  const wanted = condition === undefined ? '' : JSON.stringify([objectType, condition])
  const [previewed, setAsked] = useState(wanted)
  useEffect(() => {
    const timer = setTimeout(() => setAsked(wanted), PREVIEWED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [wanted])
  const resource = useResource(previewed, async (signal): Promise<PreviewResult | undefined> => {
    if (previewed === '') return undefined
    const [type, condition] = JSON.parse(previewed)
    const body = { currentId, preview: { objectType: type, condition }, limit: NAMES_SHOWN }
    return (await api.send<PreviewResult>('POST', '/collections-criteria/beta/preview', { body, signal })).data
  })
  return { ...resource, isLoading: resource.isLoading || previewed !== wanted }
}

type PreviewProps = {
  readonly preview: ReturnType<typeof usePreview>
  readonly part: CompletePart
  readonly objectType: string
  /** The stored collection; undefined for a new one. */
  readonly currentId: string | undefined
}

/** The counts are announced; the names are the first ones. */
export function Preview({ preview: { value, error, isLoading }, part, objectType, currentId }: PreviewProps) {
  const { condition, isWhole } = part
  const isReady = condition !== undefined
  return (
    <Section title={t('previewNames')}>
      <div role="status">
        {!isReady ? (
          <p class="faint">{t('previewInvalid')}</p>
        ) : value === undefined ? (
          isLoading && <p class="faint">{t('previewing')}</p>
        ) : (
          <Counts counts={value.counts} question={{ preview: { objectType, condition }, currentId }} />
        )}
      </div>
      {isReady && !isWhole && <p class="hint">{t('previewPart')}</p>}
      {isReady && error !== undefined && !isLoading && <ErrorNotice error={error} />}
      {isReady && value !== undefined && <Names result={value} />}
    </Section>
  )
}

type CountsProps = Pick<PreviewResult, 'counts'> & {
  readonly question: {
    readonly preview: { readonly objectType: string; readonly condition: object }
    readonly currentId: string | undefined
  }
}

function Counts({ counts, question }: CountsProps) {
  const { api } = useConsole()
  const { currentId } = question
  return (
    <>
      <p>
        <span class="big">
          <PeopleNumber
            count={counts.preview}
            title={t('previewNames')}
            source={peopleMatching(api, question, 'preview')}
          />
        </span>{' '}
        {t('matches', { count: counts.preview })}
      </p>
      {currentId !== undefined && (
        <p class="facts">
          {(['added', 'removed'] as const).map((list) => (
            <span key={list}>
              <PeopleNumber
                count={counts[list]}
                text={t(list === 'added' ? 'matchesAdded' : 'matchesRemoved', { count: counts[list] })}
                title={t(list === 'added' ? 'membersJoin' : 'membersLeave')}
                source={peopleMatching(api, question, list)}
              />
            </span>
          ))}
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
