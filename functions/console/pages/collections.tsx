import { useState } from 'preact/hooks'
import type { CriteriaCollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { Api } from '../api.ts'
import { SearchField } from '../components/fields.tsx'
import { List } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'

type AnyCollection =
  | (CriteriaCollectionDto & { readonly kind: 'criteria' })
  | (JoinableCollectionDto & { readonly kind: 'joinable' })

/** All collections of both kinds, by name. */
export function CollectionsView() {
  const { api } = useConsole()
  const [text, setText] = useState('')
  const collections = useResource('collections', () => listCollections(api))
  return (
    <Page
      title={t('collections')}
      actions={
        <a class="button primary" href={hrefOf('/collections/new')}>
          {t('newCollection')}
        </a>
      }
    >
      <SearchField label={t('search')} value={text} onInput={setText} />
      <Loaded resource={collections}>
        {(all) => {
          const shown = all.filter(({ name }) => name.toLowerCase().includes(text.trim().toLowerCase()))
          return (
            <>
              <p class="faint" role="status">
                {t('countOf', { shown: shown.length, count: all.length })}
              </p>
              <List
                label={t('collections')}
                items={shown}
                keyOf={({ id }) => id}
                empty={all.length === 0 ? t('collectionsEmpty') : t('collectionsNoMatch')}
                columns={[
                  { head: t('name'), cell: ({ id, name }) => <a href={hrefOf(`/collections/${id}`)}>{name}</a> },
                  { head: t('kind'), cell: ({ kind }) => t(kind) },
                  { head: t('type'), cell: ({ objectType }) => typeName(objectType) },
                  { head: t('changed'), cell: ({ updatedAt }) => timeOf(updatedAt) },
                ]}
              />
            </>
          )
        }}
      </Loaded>
    </Page>
  )
}

/** The name of what a collection contains. */
export function typeName(objectType: string): string {
  return objectType === 'Relationship' || objectType === 'OrgUnit' ? t(objectType) : t('Identity')
}

async function listCollections(api: Api): Promise<AnyCollection[]> {
  const [criteria, joinable] = await Promise.all([
    api.all<CriteriaCollectionDto>('/collections-criteria/beta'),
    api.all<JoinableCollectionDto>('/collections-joinable/beta'),
  ])
  const all: AnyCollection[] = [
    ...criteria.map((one) => ({ ...one, kind: 'criteria' as const })),
    ...joinable.map((one) => ({ ...one, kind: 'joinable' as const })),
  ]
  return all.sort((one, other) => one.name.localeCompare(other.name))
}
