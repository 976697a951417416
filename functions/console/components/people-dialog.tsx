import { useEffect, useState } from 'preact/hooks'
import { csvOf } from '../csv.ts'
import { numberOf, t } from '../language/texts.ts'
import { type ListedPerson, lengthOf, type PeopleSource } from '../listed-people.ts'
import { isTextIn } from '../object-names.ts'
import { usePages } from '../resource.ts'
import { Dialog } from './actions.tsx'
import { OptionalText, SearchField } from './fields.tsx'
import { LongList } from './list.tsx'
import { Loaded } from './loaded.tsx'
import type { Column } from './sorted.tsx'

type PeopleNumberProps = {
  readonly count: number
  readonly sign?: '+' | '−'
  /** What is shown; the number with its sign by default. */
  readonly text?: string
  /** The title of the list: what the number counts. */
  readonly title: string
  readonly source: PeopleSource
}

/** A number that opens the list of the people whom it counts. Zero is plain text. */
export function PeopleNumber({
  count,
  sign,
  text = `${sign ?? ''}${numberOf(count)}`,
  title,
  source,
}: PeopleNumberProps) {
  const [isOpen, setOpen] = useState(false)
  if (count === 0) return <>{text}</>
  return (
    <>
      <button type="button" class="link" aria-label={`${text}: ${title}`} onClick={() => setOpen(true)}>
        {text}
      </button>
      {isOpen && <PeopleDialog title={title} count={count} source={source} onClose={() => setOpen(false)} />}
    </>
  )
}

/** A browser that asks where to save a file reads it after the person has answered. */
const DOWNLOADED_WITHIN_MS = 600_000

type PeopleDialogProps = {
  readonly title: string
  readonly count: number
  readonly source: PeopleSource
  readonly onClose: () => void
}

function PeopleDialog({ title, count, source, onClose }: PeopleDialogProps) {
  return (
    <Dialog title={title} hasClose isWide onClose={onClose}>
      <PeopleList label={title} count={count} source={source} />
    </Dialog>
  )
}

type PeopleListProps = {
  readonly label: string
  /** How many people the list has, as it is known before all of them are loaded. */
  readonly count: number
  readonly source: PeopleSource
}

/** A searchable list of people, loaded page by page. A search and a file need all pages. */
export function PeopleList({ label, count, source }: PeopleListProps) {
  const [text, setText] = useState('')
  const [isWanted, setWanted] = useState(false)
  const people = usePages(source.path, source.read)
  const { loadMore, isComplete, value } = people
  const wanted = text.trim()
  useEffect(() => {
    if (wanted !== '' || isWanted) loadMore?.()
  }, [wanted, isWanted, loadMore])
  useEffect(() => {
    if (!isWanted || !isComplete || value === undefined) return
    setWanted(false)
    download(label, value)
  }, [isWanted, isComplete, value])
  return (
    <Loaded resource={people}>
      {(items) => {
        const shown =
          wanted === ''
            ? items
            : items.filter(({ name, title, unit, account }) => isTextIn(wanted, [name, title, unit, account]))
        const { total, isCutOff } = lengthOf(source, { loadedCount: items.length, isComplete }, count)
        return (
          <>
            <div class="between">
              <SearchField label={t('peopleSearch')} value={text} onInput={setText} />
              <p class="faint" role="status">
                {t('countOf', { shown: shown.length, count: total })}
              </p>
              <button type="button" aria-busy={isWanted} disabled={isWanted} onClick={() => setWanted(true)}>
                {t('saveCsv')}
              </button>
            </div>
            {isCutOff && <p class="hint">{t('firstOf', { shown: source.limit ?? 0, count: total })}</p>}
            <div class="people-list">
              <LongList
                label={label}
                items={shown}
                loadMore={wanted === '' ? loadMore : undefined}
                keyOf={({ key }) => key}
                empty={isComplete ? t('peopleEmpty') : t('loading')}
                columns={columns()}
              />
            </div>
          </>
        )
      }}
    </Loaded>
  )
}

const columns = (): readonly Column<ListedPerson>[] => [
  {
    head: t('name'),
    cell: ({ name, title, unit }) => (
      <>
        {name ?? <span class="faint">{t('accountWithoutPerson')}</span>}
        {/* Stands for the columns that a narrow window does not show. */}
        <small class="narrow-only">{[title, unit].filter((part) => part !== null).join(' · ')}</small>
      </>
    ),
    isReused: true,
  },
  { head: t('title'), cell: ({ title }) => <OptionalText value={title} />, isReused: true },
  { head: t('orgUnit'), cell: ({ unit }) => <OptionalText value={unit} />, isReused: true },
  { head: t('account'), cell: ({ account }) => <OptionalText value={account} />, isReused: true },
]

/** Hands the list to the browser as a file. The content is made here and sent nowhere. */
function download(name: string, people: readonly ListedPerson[]): void {
  const head = [t('name'), t('title'), t('orgUnit'), t('account')]
  const rows = people.map((person) => [person.name, person.title, person.unit, person.account])
  const address = URL.createObjectURL(new Blob([csvOf([head, ...rows])], { type: 'text/csv;charset=utf-8' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `${name.replace(/[^\p{L}\p{N} -]/gu, '').trim() || 'people'}.csv`
  link.click()
  setTimeout(() => URL.revokeObjectURL(address), DOWNLOADED_WITHIN_MS)
}
