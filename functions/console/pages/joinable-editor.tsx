import { useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { CollectionVersion } from '../../../shared/domain/insight/collection-versions.ts'
import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { Api } from '../api.ts'
import { newestVersion, offerUndo } from '../collection-versions.ts'
import { ActionButton } from '../components/actions.tsx'
import { ConflictNotice, differencesOf } from '../components/conflict.tsx'
import { isStale, Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf, navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import { type CollectionHead, HeadFields, useUnsaved } from './collection-form.tsx'
import { type EditedPolicy, editedPolicy, isPolicyComplete, NEW_POLICY, policyDto } from './edited-policy.ts'
import { readPolicyNames } from './join-policy.ts'
import { PolicyFields } from './policy-fields.tsx'

const JOINABLE = '/collections-joinable/beta'
const OBJECT_TYPES = ['Identity', 'Relationship'] as const

/** A stored collection and its version; neither for a new one. */
type Stored = {
  readonly collection: JoinableCollectionDto | undefined
  readonly etag: string | undefined
  readonly policy: EditedPolicy
}
type Start = {
  readonly stored: Stored
  /** What the form starts with, where that is an earlier version. */
  readonly earlier: (Pick<Stored, 'policy'> & { readonly former: CollectionVersion }) | undefined
  readonly collections: readonly CollectionDto[]
}

type JoinableEditorProps = {
  readonly parameters: { readonly id?: string }
  /** An earlier version to start from. */
  readonly former?: CollectionVersion
}

/** Creates a joinable collection, or changes one: who can ask to join, and who decides. */
export function JoinableEditor({ parameters: { id }, former }: JoinableEditorProps) {
  const { api } = useConsole()
  const start = useResource(id ?? 'new', (signal) => readStart(id, former, api, signal))
  const back =
    id === undefined
      ? { path: '/collections', text: t('collections') }
      : { path: `/collections/${id}`, text: start.value?.stored.collection?.name ?? t('collection') }
  return (
    <Page title={titleOf(id, former)} back={back}>
      <Loaded resource={start}>{(loaded) => <Editor key={id ?? 'new'} {...loaded} />}</Loaded>
    </Page>
  )
}

function titleOf(id: string | undefined, former: CollectionVersion | undefined): string {
  if (former !== undefined) return t('restoreNamed', { time: timeOf(former.at) })
  return id === undefined ? t('newJoinableCollection') : t('editCollection')
}

function Editor({ stored, earlier, collections }: Start) {
  const { api } = useConsole()
  const [base, setBase] = useState(stored)
  const [head, setHead] = useState<CollectionHead>(() => headOf(earlier?.former ?? stored.collection))
  const [policy, setPolicy] = useState(earlier?.policy ?? stored.policy)
  const [theirs, setTheirs] = useState<Stored | undefined>(undefined)
  const isNew = base.collection === undefined
  useUnsaved(JSON.stringify([head, policy]) !== JSON.stringify([headOf(base.collection), base.policy]))
  const save = async () => {
    try {
      const version = base.collection && (await newestVersion(api, base.collection.id))
      const restored = earlier === undefined ? {} : { metadata: earlier.former.metadata }
      const id = await saved(base, { ...restored, ...head, joinPolicy: policyDto(policy) }, api)
      if (version !== undefined) offerUndo({ collectionId: id, name: head.name, version }, Date.now())
      navigate(`/collections/${id}/policy`, t('savedNamed', { name: head.name }))
    } catch (error) {
      if (!isStale(error) || base.collection === undefined) throw error
      setTheirs(await readStored(base.collection.id, api, new AbortController().signal))
    }
  }
  const take = (other: Stored) => {
    setBase(other)
    setHead(headOf(other.collection))
    setPolicy(other.policy)
    setTheirs(undefined)
  }
  return (
    <form class="narrow-form" onSubmit={(event) => event.preventDefault()}>
      <HeadFields head={head} objectTypes={OBJECT_TYPES} isNew={isNew} onChange={setHead} />
      <PolicyFields policy={policy} collections={collections} onChange={setPolicy} />
      {!isNew && <p class="hint">{t('policyChangeHint')}</p>}
      {theirs !== undefined && (
        <ConflictNotice
          differences={differences(head, policy, theirs)}
          onKeepMine={() => {
            setBase(theirs)
            setTheirs(undefined)
          }}
          onTakeTheirs={() => take(theirs)}
        />
      )}
      <div class="actions">
        <ActionButton
          kind="primary"
          run={save}
          disabled={head.name.trim() === '' || !isPolicyComplete(policy) || theirs !== undefined}
        >
          {t('save')}
        </ActionButton>
        <a class="button" href={hrefOf(isNew ? '/collections' : `/collections/${base.collection?.id}`)}>
          {t('cancel')}
        </a>
      </div>
    </form>
  )
}

type Definition = Pick<JoinableCollectionDto, 'name' | 'description'> & { readonly objectType: string }

function headOf(collection: Definition | undefined): CollectionHead {
  const { name = '', description, objectType = 'Identity' } = collection ?? {}
  return { name, description: description ?? '', objectType }
}

function differences(head: CollectionHead, policy: EditedPolicy, theirs: Stored) {
  const other = headOf(theirs.collection)
  return differencesOf([
    { head: t('name'), mine: head.name, theirs: other.name },
    { head: t('description'), mine: head.description, theirs: other.description },
    { head: t('whoCanJoin'), mine: eligibilityText(policy), theirs: eligibilityText(theirs.policy) },
    { head: t('approval'), mine: gatesText(policy), theirs: gatesText(theirs.policy) },
    { head: t('maxDays'), mine: policy.maxDays, theirs: theirs.policy.maxDays },
  ])
}

function eligibilityText({ joinableBy }: EditedPolicy): string {
  return joinableBy.length === 0 ? t('everybodyCanJoin') : joinableBy.map(({ name }) => name).join(', ')
}

function gatesText({ isApprovalRequired, gates, isReasonNeeded }: EditedPolicy): string {
  if (!isApprovalRequired) return t('noApproval')
  const texts = gates.map(({ type, approvers }) => {
    return [t(`gate${type}`), ...approvers.map(({ name }) => name)].join(': ')
  })
  return [...texts, ...(isReasonNeeded ? [t('rejectionNeedsReason')] : [])].join('; ')
}

/** What the editor does not show is kept. @returns The id of the collection. */
async function saved({ collection, etag }: Stored, changed: object, api: Api): Promise<string> {
  if (collection === undefined) return (await api.send<string>('POST', JOINABLE, { body: changed })).data
  const body = { metadata: collection.metadata, ...changed }
  await api.send('PUT', `${JOINABLE}/${collection.id}`, { body, ifMatch: etag })
  return collection.id
}

async function readStart(
  id: string | undefined,
  former: CollectionVersion | undefined,
  api: Api,
  signal: AbortSignal,
): Promise<Start> {
  const [earlier, collections, stored] = await Promise.all([
    former && readEarlier(former, api, signal),
    api.all<CollectionDto>('/collections/beta'),
    id === undefined ? { collection: undefined, etag: undefined, policy: NEW_POLICY } : readStored(id, api, signal),
  ])
  return { stored, earlier, collections: collections.filter((candidate) => candidate.id !== id) }
}

async function readEarlier(former: CollectionVersion, api: Api, signal: AbortSignal): Promise<Start['earlier']> {
  const joinPolicy = former.joinPolicy as JoinableCollectionDto['joinPolicy']
  return { former, policy: editedPolicy(joinPolicy, await readPolicyNames(joinPolicy, api, signal)) }
}

async function readStored(id: string, api: Api, signal: AbortSignal): Promise<Stored> {
  const { data, etag } = await api.send<JoinableCollectionDto>('GET', `${JOINABLE}/${id}`, { signal })
  const names = await readPolicyNames(data.joinPolicy, api, signal)
  return { collection: data, etag, policy: editedPolicy(data.joinPolicy, names) }
}
