import type { CriteriaCollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { Api } from '../api.ts'
import { Choice, OptionalText, SearchField, useAddress } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { RecordList } from '../components/record-list.tsx'
import { compareByLocale, dayText, numberOf, t } from '../language/texts.ts'
import { isTextIn } from '../object-names.ts'
import { readCounts } from '../read-counts.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'

/** `memberCount`: null while it is not known. `linkCount`: the groups that the collection is linked to. */
type AnyCollection = { readonly memberCount: number | null; readonly linkCount: number } & (
  | (CriteriaCollectionDto & { readonly kind: 'criteria' })
  | (JoinableCollectionDto & { readonly kind: 'joinable' })
)

const KINDS = ['anyKind', 'criteria', 'joinable'] as const

/** All collections of both kinds, by name. */
export function CollectionsView() {
  const { api } = useConsole()
  const [text, setText] = useAddress('text')
  const [chosenKind, setKind] = useAddress('show')
  const kind = KINDS.find((name) => name === chosenKind) ?? 'anyKind'
  const collections = useResource('collections', () => listCollections(api))
  const isShown = (collection: AnyCollection) =>
    (kind === 'anyKind' || kind === collection.kind) && isTextIn(text, [collection.name, collection.description])
  return (
    <Page
      title={t('collections')}
      actions={
        <>
          <a class="button primary" href={hrefOf('/collections/new')}>
            {t('newCollection')}
          </a>
          <a class="button" href={hrefOf('/collections/new-joinable')}>
            {t('newJoinable')}
          </a>
        </>
      }
    >
      <Loaded resource={collections}>
        {(all) => {
          const shown = all.filter(isShown)
          return (
            <>
              <div class="between">
                <div class="actions">
                  <SearchField label={t('collectionsFilter')} value={text} onInput={setText} />
                  <Choice
                    label={t('kind')}
                    isLabelHidden
                    value={kind}
                    options={KINDS.map((value) => ({ value, text: t(value) }))}
                    onChange={(value) => setKind(value === 'anyKind' ? '' : value)}
                  />
                </div>
                <p class="faint" role="status">
                  {t('countOf', { shown: shown.length, count: all.length })}
                </p>
              </div>
              <CollectionTable
                collections={shown}
                empty={all.length === 0 ? t('collectionsEmpty') : t('collectionsNoMatch')}
              />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}

type CollectionTableProps = { readonly collections: readonly AnyCollection[]; readonly empty: string }

function CollectionTable({ collections, empty }: CollectionTableProps) {
  return (
    <RecordList
      label={t('collections')}
      items={collections}
      keyOf={({ id }) => id}
      empty={empty}
      sortParameter="sort"
      columns={[
        {
          head: t('name'),
          sortBy: ({ name }) => name,
          cell: ({ id, name }) => (
            <a href={hrefOf(`/collections/${id}`)} title={name}>
              {name}
            </a>
          ),
        },
        { head: t('description'), cell: ({ description }) => <OptionalText value={description} /> },
        { head: t('kind'), text: ({ kind }) => t(kind) },
        { head: t('type'), text: ({ objectType }) => typeName(objectType) },
        {
          head: t('members'),
          isNumber: true,
          sortBy: ({ memberCount }) => memberCount,
          cell: (collection) => <MemberCount collection={collection} />,
        },
        {
          head: t('groups'),
          isNumber: true,
          sortBy: ({ linkCount }) => linkCount,
          cell: ({ linkCount }) => numberOf(linkCount),
        },
        { head: t('changed'), sortBy: ({ updatedAt }) => updatedAt, cell: ({ updatedAt }) => dayText(updatedAt) },
      ]}
    />
  )
}

function MemberCount({ collection: { kind, memberCount } }: { readonly collection: AnyCollection }) {
  if (memberCount !== null) return <>{numberOf(memberCount)}</>
  return <span class="faint">{t(kind === 'criteria' ? 'previewing' : 'unknown')}</span>
}

/** The name of what a collection contains. */
export function typeName(objectType: string): string {
  return objectType === 'Relationship' || objectType === 'OrgUnit' ? t(objectType) : t('Identity')
}

async function listCollections(api: Api): Promise<AnyCollection[]> {
  const [criteria, joinable, counts] = await Promise.all([
    api.all<CriteriaCollectionDto>('/collections-criteria/beta'),
    api.all<JoinableCollectionDto>('/collections-joinable/beta'),
    readCounts(api),
  ])
  const counted = <Of extends { readonly id: string }>(collection: Of) => {
    const { memberCount = null, linkCount = 0 } = counts.get(collection.id) ?? {}
    return { ...collection, memberCount, linkCount }
  }
  const all: AnyCollection[] = [
    ...criteria.map((collection) => ({ ...counted(collection), kind: 'criteria' as const })),
    ...joinable.map((collection) => ({ ...counted(collection), kind: 'joinable' as const })),
  ]
  return all.sort((left, right) => compareByLocale(left.name, right.name))
}
