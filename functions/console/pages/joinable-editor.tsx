import { useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { CollectionVersion } from '../../../shared/domain/insight/collection-versions.ts'
import type { JoinableCollectionDto } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import type { Api } from '../api.ts'
import { ActionButton } from '../components/actions.tsx'
import { ConflictNotice, differencesOf, hiddenText } from '../components/conflict.tsx'
import { isStale } from '../components/loaded.tsx'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import {
  CancelLink,
  type CollectionHead,
  EditorPage,
  HeadFields,
  headOf,
  headParts,
  saveWithUndo,
  useUnsaved,
} from './collection-form.tsx'
import {
  type EditedPolicy,
  editedPolicy,
  isPolicyComplete,
  NEW_POLICY,
  policyDto,
  withTheirHiddenParts,
} from './edited-policy.ts'
import { readPolicyNames } from './policy.tsx'
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
  return (
    <EditorPage id={id} former={former} newTitle={t('newJoinableCollection')} start={start}>
      {(loaded) => <Editor key={id ?? 'new'} {...loaded} />}
    </EditorPage>
  )
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
      const restored = earlier === undefined ? {} : { metadata: earlier.former.metadata }
      const changed = { ...restored, ...head, joinPolicy: policyDto(policy) }
      const id = await saveWithUndo(base.collection?.id, head.name, () => saved(base, changed, api), api)
      navigate(`/collections/${id}/policy`, t('savedNamed', { name: head.name }))
    } catch (error) {
      if (!isStale(error) || base.collection === undefined) throw error
      setTheirs(await readStored(base.collection.id, api))
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
          hidden={hiddenText(
            [policyDto(policy), (earlier?.former ?? base.collection)?.metadata],
            [policyDto(withTheirHiddenParts(policy, theirs.policy)), theirs.collection?.metadata],
            earlier !== undefined,
          )}
          onKeepMine={() => {
            // A version that is restored has all of its parts.
            if (earlier === undefined) setPolicy(withTheirHiddenParts(policy, theirs.policy))
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
        <CancelLink id={base.collection?.id} />
      </div>
    </form>
  )
}

function differences(head: CollectionHead, policy: EditedPolicy, theirs: Stored) {
  const other = headOf(theirs.collection)
  return differencesOf([
    ...headParts(head, other),
    { head: t('whoCanJoin'), mine: eligibilityText(policy), theirs: eligibilityText(theirs.policy) },
    { head: t('approval'), mine: gatesText(policy), theirs: gatesText(theirs.policy) },
    { head: t('maxDays'), mine: policy.maxDays, theirs: theirs.policy.maxDays },
  ])
}

function eligibilityText({ joinableBy }: EditedPolicy): string {
  return joinableBy.length === 0 ? t('everybodyCanJoin') : joinableBy.map(({ name }) => name).join(', ')
}

function gatesText({ isApprovalRequired, gates, isReasonNeeded }: EditedPolicy): string {
  const texts = gates.map(({ type, approvers }) => {
    return [t(`gate${type}`), ...approvers.map(({ name }) => name)].join(': ')
  })
  const limits = isReasonNeeded ? [t('rejectionNeedsReason')] : []
  return [...(isApprovalRequired ? [] : [t('noApproval')]), ...texts, ...limits].join('; ')
}

/** What the editor does not show is kept. @returns The id of the collection. */
async function saved({ collection, etag }: Stored, changed: object, api: Api): Promise<string> {
  if (collection === undefined) return api.create<string>(JOINABLE, changed)
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

async function readStored(id: string, api: Api, signal?: AbortSignal): Promise<Stored> {
  const { data, etag } = await api.send<JoinableCollectionDto>('GET', `${JOINABLE}/${id}`, { signal })
  const names = await readPolicyNames(data.joinPolicy, api, signal)
  return { collection: data, etag, policy: editedPolicy(data.joinPolicy, names) }
}
