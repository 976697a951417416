import type { ComponentChildren } from 'preact'
import type { CollectionDto, CriteriaCollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import { type Api, ApiRefusal } from '../api.ts'
import { ConfirmedAction } from '../components/actions.tsx'
import { Badge } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section, Tabs } from '../components/page.tsx'
import { NamedCondition } from '../condition/named-condition.tsx'
import { t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf, navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import { AuditSection } from './audit.tsx'
import { typeName } from './collections.tsx'
import { HistorySection } from './history.tsx'
import { LinkTable } from './links.tsx'
import { MembersSection } from './members.tsx'
import { PolicySection } from './policy.tsx'
import { RequestsSection } from './requests.tsx'

type Shown = { readonly collection: CriteriaCollectionDto | JoinableCollectionDto; readonly etag: string | undefined }
type CollectionViewProps = { readonly parameters: { readonly id?: string; readonly tab?: string } }

/** One collection: who is in it, why, and which groups follow it. */
export function CollectionView({ parameters: { id = '', tab = '' } }: CollectionViewProps) {
  const { api } = useConsole()
  const collection = useResource(id, () => readCollection(id, api))
  return (
    <Loaded resource={collection}>
      {(shown) => {
        const tabs = tabsOf(shown.collection)
        const path = `/collections/${id}`
        const current = tabs.find((candidate) => candidate.path === tab) ?? tabs[0]
        return (
          <Page
            title={shown.collection.name}
            back={{ path: '/collections', text: t('collections') }}
            facts={<CollectionFacts collection={shown.collection} />}
            actions={<CollectionActions {...shown} />}
          >
            {shown.collection.description && <p>{shown.collection.description}</p>}
            <Tabs
              label={shown.collection.name}
              tabs={tabs.map((item) => ({ path: item.path === '' ? path : `${path}/${item.path}`, text: item.text }))}
            />
            {current?.view()}
          </Page>
        )
      }}
    </Loaded>
  )
}

type Tab = { readonly path: string; readonly text: string; readonly view: () => ComponentChildren }

/** The parts of a collection. The first one is shown without a name in the path. */
function tabsOf(collection: Shown['collection']): readonly Tab[] {
  const members: Tab = {
    path: '',
    text: t('members'),
    view: () => <MembersSection collection={collection} isJoinable={'joinPolicy' in collection} />,
  }
  const links: Tab = { path: 'links', text: t('linksOfCollection'), view: () => <LinksSection id={collection.id} /> }
  const history: Tab = {
    path: 'history',
    text: t('history'),
    view: () => <HistorySection collection={collection} isJoinable={'joinPolicy' in collection} />,
  }
  const audit: Tab = {
    path: 'audit',
    text: t('audit'),
    view: () => <AuditSection path={`/collections/beta/${collection.id}/audit`} collectionId={collection.id} />,
  }
  if ('joinPolicy' in collection) {
    const policy = { path: 'policy', text: t('policy'), view: () => <PolicySection policy={collection.joinPolicy} /> }
    const requests = { path: 'requests', text: t('requests'), view: () => <RequestsSection id={collection.id} /> }
    return [members, policy, requests, links, history, audit]
  }
  const condition = collection.condition as WireGroup
  return [
    members,
    { path: 'condition', text: t('condition'), view: () => <ConditionSection condition={condition} /> },
    links,
    history,
    audit,
  ]
}

function CollectionFacts({ collection }: { readonly collection: CollectionDto }) {
  const { objectType, updatedAt, metadata } = collection
  return (
    <>
      <Badge kind="plain">{t('joinPolicy' in collection ? 'joinable' : 'criteria')}</Badge>
      <Badge kind="plain">{typeName(objectType)}</Badge>
      {metadata.tags.map((tag) => (
        <Badge key={tag} kind="plain">
          {tag}
        </Badge>
      ))}
      <span>{t('changedAt', { time: timeOf(updatedAt) })}</span>
    </>
  )
}

function CollectionActions({ collection, etag }: Shown) {
  const { api } = useConsole()
  const { id, name } = collection
  const isJoinable = 'joinPolicy' in collection
  const prefix = isJoinable ? '/collections-joinable/beta' : '/collections-criteria/beta'
  return (
    <>
      <a class="button" href={hrefOf(`/collections/${id}/${isJoinable ? 'edit-policy' : 'edit'}`)}>
        {t('edit')}
      </a>
      <ConfirmedAction
        label={t('deleteCollection')}
        question={t('deleteCollectionConfirm', { name })}
        run={async () => {
          await api.send('DELETE', `${prefix}/${id}`, { ifMatch: etag })
          navigate('/collections', t('deleted', { name }))
        }}
      />
    </>
  )
}

function ConditionSection({ condition }: { readonly condition: WireGroup }) {
  return (
    <Section title={t('condition')}>
      <NamedCondition condition={condition} />
    </Section>
  )
}

function LinksSection({ id }: { readonly id: string }) {
  const { api } = useConsole()
  const links = useResource(id, () => api.all<GroupLinkDto>(`/group-link/beta/group-links?collectionId=${id}`))
  return (
    <Section
      title={t('linksOfCollection')}
      actions={
        <a class="button" href={hrefOf(`/links/new/${id}`)}>
          {t('newLink')}
        </a>
      }
    >
      <Loaded resource={links}>{(all) => <LinkTable links={all} empty={t('linksOfCollectionEmpty')} />}</Loaded>
    </Section>
  )
}

/** Each kind of collection has its definition under its own prefix. */
async function readCollection(id: string, api: Api): Promise<Shown> {
  try {
    const { data, etag } = await api.send<CriteriaCollectionDto>('GET', `/collections-criteria/beta/${id}`)
    return { collection: data, etag }
  } catch (error) {
    if (!(error instanceof ApiRefusal) || error.status !== 404) throw error
    const { data, etag } = await api.send<JoinableCollectionDto>('GET', `/collections-joinable/beta/${id}`)
    return { collection: data, etag }
  }
}
