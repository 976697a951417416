import { useEffect, useState } from 'preact/hooks'
import type { CollectionDto, CriteriaCollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { MemberDto } from '../../../shared/domain/collections/list-members.ts'
import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import { type Api, ApiRefusal } from '../api.ts'
import { ActionButton, ConfirmedAction } from '../components/actions.tsx'
import { ExplanationDialog } from '../components/explanation.tsx'
import { Badge, OptionalText, SearchField } from '../components/fields.tsx'
import { List } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { ConditionText } from '../condition/condition-text.tsx'
import { t } from '../language/texts.ts'
import { type Resource, useResource } from '../resource.ts'
import { hrefOf, navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import { typeName } from './collections.tsx'
import { LinkTable } from './links.tsx'

type Shown = { readonly collection: CollectionDto | CriteriaCollectionDto; readonly etag: string | undefined }

/** One collection: who is in it, why, and which groups follow it. */
export function CollectionView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api } = useConsole()
  const collection = useResource(id, () => readCollection(id, api))
  const links = useResource(`links of ${id}`, () =>
    api.all<GroupLinkDto>(`/group-link/beta/group-links?collectionId=${id}`),
  )
  return (
    <Loaded resource={collection}>
      {(shown) => (
        <Page title={shown.collection.name} actions={<CollectionActions {...shown} />}>
          <p>
            <Badge kind="plain">{typeName(shown.collection.objectType)}</Badge>{' '}
            <OptionalText value={shown.collection.description} />
          </p>
          {'condition' in shown.collection && (
            <Section title={t('condition')}>
              <ConditionText condition={shown.collection.condition as WireGroup} />
            </Section>
          )}
          <MembersSection collection={shown.collection} />
          <LinksSection collectionId={id} links={links} />
        </Page>
      )}
    </Loaded>
  )
}

function CollectionActions({ collection, etag }: Shown) {
  const { api } = useConsole()
  const { id, name } = collection
  const isCriteria = 'condition' in collection
  const prefix = isCriteria ? '/collections-criteria/beta' : '/collections-joinable/beta'
  return (
    <>
      {isCriteria && (
        <a class="button" href={hrefOf(`/collections/${id}/edit`)}>
          {t('edit')}
        </a>
      )}
      <ConfirmedAction
        label={t('deleteCollection')}
        question={t('deleteCollectionConfirm', { name })}
        run={async () => {
          await api.send('DELETE', `${prefix}/${id}`, { ifMatch: etag })
          navigate('/collections')
        }}
      />
    </>
  )
}

type MemberPage = { readonly members: readonly MemberDto[]; readonly nextCursor: string | undefined }

const MEMBERS_PER_PAGE = 200

/** A changed condition is evaluated within this time. Until then, the members are loaded again and again. */
const EVALUATED_WITHIN_MS = 15_000
const RELOADED_AFTER_MS = 1_500

function MembersSection({ collection: { id: collectionId, updatedAt } }: { readonly collection: CollectionDto }) {
  const { api } = useConsole()
  const [text, setText] = useState('')
  const [explained, setExplained] = useState<MemberDto | undefined>(undefined)
  const [more, setMore] = useState<MemberPage>({ members: [], nextCursor: undefined })
  const filter = text.trim() === '' ? '' : `&text=${encodeURIComponent(text.trim())}`
  const path = `/collections/beta/${collectionId}/members?pageSize=${MEMBERS_PER_PAGE}${filter}`
  const first = useResource(path, async (): Promise<MemberPage> => {
    const { data, nextCursor } = await api.send<MemberDto[]>('GET', path)
    setMore({ members: [], nextCursor })
    return { members: data, nextCursor }
  })
  useEffect(() => {
    const isRecent = Date.now() - Date.parse(updatedAt) < EVALUATED_WITHIN_MS
    if (!isRecent || first.isLoading) return undefined
    const timer = setTimeout(first.reload, RELOADED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [updatedAt, first.isLoading, first.reload])
  const loadMore = async () => {
    const { data, nextCursor } = await api.send<MemberDto[]>(
      'GET',
      `${path}&nextCursor=${encodeURIComponent(more.nextCursor ?? '')}`,
    )
    setMore(({ members }) => ({ members: [...members, ...data], nextCursor }))
  }
  return (
    <Section title={t('members')}>
      <SearchField label={t('membersFilter')} value={text} onInput={setText} />
      <Loaded resource={first}>
        {({ members }) => (
          <>
            <List
              label={t('members')}
              items={[...members, ...more.members]}
              keyOf={({ objectId, relationshipId }) => `${objectId} ${relationshipId}`}
              empty={t('membersEmpty')}
              columns={[
                { head: t('name'), cell: ({ displayName }) => <OptionalText value={displayName} /> },
                { head: t('title'), cell: ({ title }) => <OptionalText value={title} /> },
                { head: t('orgUnit'), cell: ({ orgUnitName }) => <OptionalText value={orgUnitName} /> },
                { head: t('account'), cell: ({ hasAccount }) => <AccountBadge hasAccount={hasAccount} /> },
                {
                  head: t('actions'),
                  cell: (member) => (
                    <button type="button" onClick={() => setExplained(member)}>
                      {t('why')}
                    </button>
                  ),
                },
              ]}
            />
            {explained !== undefined && (
              <ExplanationDialog
                collectionId={collectionId}
                member={explained}
                onClose={() => setExplained(undefined)}
              />
            )}
            {more.nextCursor !== undefined && <ActionButton run={loadMore}>{t('more')}</ActionButton>}
          </>
        )}
      </Loaded>
    </Section>
  )
}

function AccountBadge({ hasAccount }: { readonly hasAccount: boolean }) {
  return <Badge kind={hasAccount ? 'plain' : 'bad'}>{hasAccount ? t('hasAccount') : t('noAccount')}</Badge>
}

type LinksSectionProps = { readonly collectionId: string; readonly links: Resource<readonly GroupLinkDto[]> }

function LinksSection({ collectionId, links }: LinksSectionProps) {
  return (
    <Section
      title={t('linksOfCollection')}
      actions={
        <a class="button" href={hrefOf(`/links/new/${collectionId}`)}>
          {t('newLink')}
        </a>
      }
    >
      <Loaded resource={links}>{(all) => <LinkTable links={all} />}</Loaded>
    </Section>
  )
}

/** A criteria collection has its condition under its own prefix. */
async function readCollection(id: string, api: Api): Promise<Shown> {
  try {
    const { data, etag } = await api.send<CriteriaCollectionDto>('GET', `/collections-criteria/beta/${id}`)
    return { collection: data, etag }
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status !== 404) throw error
    const { data, etag } = await api.send<CollectionDto>('GET', `/collections-joinable/beta/${id}`)
    return { collection: data, etag }
  }
}
