import { useEffect, useMemo, useState } from 'preact/hooks'
import type { CollectionDto, CriteriaCollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { CollectionVersion } from '../../../shared/domain/insight/collection-versions.ts'
import { type Api, type ApiFault, ApiRefusal } from '../api.ts'
import { newestVersion, offerUndo } from '../collection-versions.ts'
import { ActionButton } from '../components/actions.tsx'
import { ConflictNotice, differencesOf } from '../components/conflict.tsx'
import { ErrorNotice, isStale, Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { ConditionBuilder } from '../condition/builder.tsx'
import { completePart, pointerInTree } from '../condition/complete-part.ts'
import { ConditionAsText } from '../condition/condition-as-text.tsx'
import type { ConditionChoices } from '../condition/condition-choices.ts'
import { conditionSentence } from '../condition/condition-sentence.ts'
import type { NamesById } from '../condition/condition-text.tsx'
import { conditionOf, type EditedGroup, editedGroup, isComplete, newGroup } from '../condition/condition-tree.ts'
import { readConditionNames } from '../condition/named-condition.tsx'
import type { TreeNotes } from '../condition/node-notes.tsx'
import { PlanDialog, readPlan } from '../condition/plan.tsx'
import type { NamedPlan } from '../condition/plan-notices.tsx'
import { Preview, usePreview } from '../condition/preview.tsx'
import { TestedPerson, useTestedPerson } from '../condition/tested-person.tsx'
import { t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf, navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import { type CollectionHead, HeadFields, useUnsaved } from './collection-form.tsx'

const CRITERIA = '/collections-criteria/beta'
const OBJECT_TYPES = ['Identity', 'Relationship', 'OrgUnit'] as const

/** A stored collection and its version; neither for a new one. */
type Stored = { readonly collection: CriteriaCollectionDto | undefined; readonly etag: string | undefined }
type Start = { readonly stored: Stored; readonly choices: ConditionChoices }

type CollectionEditorProps = {
  readonly parameters: { readonly id?: string }
  /** An earlier version to start from. Its effect is shown at once. */
  readonly former?: CollectionVersion
}

/** Creates a criteria collection, or changes one, with a preview of who matches. */
export function CollectionEditor({ parameters: { id }, former }: CollectionEditorProps) {
  const { api } = useConsole()
  const start = useResource(id ?? 'new', (signal) => readStart(id, former, api, signal))
  const back =
    id === undefined
      ? { path: '/collections', text: t('collections') }
      : { path: `/collections/${id}`, text: start.value?.stored.collection?.name ?? t('collection') }
  return (
    <Page title={titleOf(id, former)} back={back}>
      <Loaded resource={start}>
        {({ stored, choices }) => <Editor key={id ?? 'new'} start={stored} former={former} choices={choices} />}
      </Loaded>
    </Page>
  )
}

function titleOf(id: string | undefined, former: CollectionVersion | undefined): string {
  if (former !== undefined) return t('restoreNamed', { time: timeOf(former.at) })
  return id === undefined ? t('newCriteriaCollection') : t('editCollection')
}

type EditorProps = {
  readonly start: Stored
  readonly former: CollectionVersion | undefined
  readonly choices: ConditionChoices
}

function Editor({ start, former, choices }: EditorProps) {
  const { api } = useConsole()
  const [base, setBase] = useState(start)
  const [head, setHead] = useState<CollectionHead>(() => headOf(former ?? start.collection))
  const [tree, setTree] = useState<EditedGroup>(() => treeOf(former ?? start.collection))
  const [saveFaults, setSaveFaults] = useState<readonly ApiFault[]>([])
  const [reviewError, setReviewError] = useState<unknown>(undefined)
  const [theirs, setTheirs] = useState<Stored | undefined>(undefined)
  const [planned, setPlanned] = useState<(NamedPlan & { readonly isChanged: boolean }) | undefined>(undefined)
  const part = useMemo(() => completePart(tree, (name) => Object.hasOwn(choices.types, name)), [tree, choices])
  const preview = usePreview(part, head.objectType, base.collection?.id)
  const tested = useTestedPerson(part, head.objectType)
  const notes = useMemo((): TreeNotes => {
    const inTree = <Note extends { readonly target?: string }>(note: Note): Note => {
      return note.target === undefined ? note : { ...note, target: pointerInTree(note.target, part.pointers) }
    }
    return {
      faults: [...faultsOfCondition(preview.error, '/preview/condition').map(inTree), ...saveFaults],
      warnings: preview.value?.warnings.map(inTree) ?? [],
      results: tested.results.value ?? new Map(),
    }
  }, [part, preview.error, preview.value, saveFaults, tested.results.value])
  const isNew = base.collection === undefined
  useUnsaved(isChanged(base, head, tree))
  const body = { ...kept(former ?? base.collection), ...head, condition: conditionOf(tree) }
  const review = async (isChanged = false) => {
    setSaveFaults([])
    try {
      setPlanned({ ...(await readPlan(pathOf(base), body, api)), isChanged })
    } catch (error) {
      if (error instanceof ApiRefusal) setSaveFaults(faultsOfCondition(error, '/condition'))
      throw error
    }
  }
  const isRestored = former !== undefined
  useEffect(() => {
    // A refused version stays in the form, with its faults where they are.
    if (isRestored) review().catch((error) => setReviewError(error))
  }, [isRestored])
  const save = async (planId: string) => {
    try {
      const version = base.collection && (await newestVersion(api, base.collection.id))
      const id = await saved(base, body, planId, api)
      if (version !== undefined) offerUndo({ collectionId: id, name: head.name, version }, Date.now())
      navigate(`/collections/${id}`, t('savedNamed', { name: head.name }))
    } catch (error) {
      if (error instanceof ApiRefusal && (error.has('PlanChanged') || error.has('PlanExpired'))) return review(true)
      if (!isStale(error) || base.collection === undefined) throw error
      setPlanned(undefined)
      setTheirs(await readTheirs(base.collection.id, choices, api))
    }
  }
  const change = (next: EditedGroup) => {
    setSaveFaults([])
    setTree(next)
  }
  return (
    <form class="columns" onSubmit={(event) => event.preventDefault()}>
      <div>
        <HeadFields head={head} objectTypes={OBJECT_TYPES} isNew={isNew} onChange={setHead} />
        <Section title={t('condition')}>
          <ConditionAsText tree={tree} choices={choices} onChange={change} />
          <ConditionBuilder
            group={tree}
            choices={choices}
            notes={notes}
            canBeAnyPosition={head.objectType !== 'OrgUnit'}
            onChange={change}
          />
        </Section>
        {theirs !== undefined && (
          <ConflictNotice
            differences={differences(head, tree, theirs, choices.names)}
            onKeepMine={() => {
              setBase(theirs)
              setTheirs(undefined)
            }}
            onTakeTheirs={() => {
              setBase(theirs)
              setHead(headOf(theirs.collection))
              setTree(treeOf(theirs.collection))
              setTheirs(undefined)
            }}
          />
        )}
        {reviewError !== undefined && <ErrorNotice error={reviewError} />}
        <div class="actions">
          <ActionButton
            kind="primary"
            run={() => {
              setReviewError(undefined)
              return review()
            }}
            disabled={head.name.trim() === '' || !isComplete(tree) || theirs !== undefined}
          >
            {t('review')}
          </ActionButton>
          <a class="button" href={hrefOf(isNew ? '/collections' : `/collections/${base.collection?.id}`)}>
            {t('cancel')}
          </a>
        </div>
      </div>
      {planned !== undefined && (
        <PlanDialog
          {...planned}
          change={{ path: base.collection && pathOf(base), body }}
          collectionNames={new Map(choices.collections.map(({ id, name }) => [id, name]))}
          onSave={() => save(planned.plan.planId)}
          onClose={() => setPlanned(undefined)}
        />
      )}
      <aside>
        <Preview preview={preview} part={part} objectType={head.objectType} currentId={base.collection?.id} />
        {head.objectType !== 'OrgUnit' && (
          <TestedPerson person={tested.person} results={tested.results} onChange={tested.setPerson} />
        )}
      </aside>
    </form>
  )
}

type Definition = Pick<CriteriaCollectionDto, 'name' | 'description' | 'metadata'> & {
  readonly objectType: string
  readonly condition: unknown
}

function headOf(collection: Definition | undefined): CollectionHead {
  const { name = '', description, objectType = 'Identity' } = collection ?? {}
  return { name, description: description ?? '', objectType }
}

function treeOf(collection: Definition | undefined): EditedGroup {
  return collection === undefined ? newGroup() : editedGroup(collection.condition as WireGroup)
}

const textOf = (tree: EditedGroup): string => JSON.stringify(conditionOf(tree))

function isChanged(base: Stored, head: CollectionHead, tree: EditedGroup): boolean {
  return (
    JSON.stringify([headOf(base.collection), textOf(treeOf(base.collection))]) !== JSON.stringify([head, textOf(tree)])
  )
}

function differences(head: CollectionHead, tree: EditedGroup, theirs: Stored, names: NamesById) {
  const [other, otherTree] = [headOf(theirs.collection), treeOf(theirs.collection)]
  return differencesOf([
    { head: t('name'), mine: head.name, theirs: other.name },
    { head: t('description'), mine: head.description, theirs: other.description },
    { head: t('condition'), mine: conditionSentence(tree, names), theirs: conditionSentence(otherTree, names) },
  ])
}

/** What the editor does not show and must not lose. */
const kept = (collection: Definition | undefined): object =>
  collection === undefined ? {} : { metadata: collection.metadata }

const pathOf = ({ collection }: Stored): string =>
  collection === undefined ? CRITERIA : `${CRITERIA}/${collection.id}`

/** Saves a stored collection only if the effect is still the planned one. @returns The id of the collection. */
async function saved({ collection, etag }: Stored, body: object, planId: string, api: Api): Promise<string> {
  if (collection === undefined) return (await api.send<string>('POST', CRITERIA, { body })).data
  const headers = { 'if-plan': planId }
  await api.send('PUT', `${CRITERIA}/${collection.id}`, { body, ifMatch: etag, headers })
  return collection.id
}

/** The faults of a refused condition, with pointers into the condition. */
function faultsOfCondition(error: unknown, prefix: string): ApiFault[] {
  if (!(error instanceof ApiRefusal)) return []
  return error.faults.flatMap((fault) =>
    fault.target?.startsWith(prefix) ? [{ ...fault, target: fault.target.slice(prefix.length) }] : [],
  )
}

type TenantSchemas = { readonly identitySchema: Readonly<Record<string, string>> }

async function readStart(
  id: string | undefined,
  former: CollectionVersion | undefined,
  api: Api,
  signal: AbortSignal,
): Promise<Start> {
  const [schemas, collections, stored] = await Promise.all([
    api.send<TenantSchemas>('GET', `${CRITERIA}/tenant-schemas`),
    api.all<CollectionDto>('/collections/beta'),
    id === undefined ? { collection: undefined, etag: undefined } : readStored(id, api),
  ])
  const condition = (former ?? stored.collection)?.condition as WireGroup | undefined
  const names = condition === undefined ? [] : await readConditionNames(condition, api, signal)
  return {
    stored,
    choices: {
      types: schemas.data.identitySchema,
      collections: collections.filter((candidate) => candidate.id !== id),
      names: new Map(names),
    },
  }
}

/** What another person has saved, with the names of what it names by id. */
async function readTheirs(id: string, { names }: ConditionChoices, api: Api): Promise<Stored> {
  const stored = await readStored(id, api)
  const condition = stored.collection?.condition as WireGroup
  const named = await readConditionNames(condition, api, new AbortController().signal)
  for (const [namedId, name] of named) names.set(namedId, name)
  return stored
}

async function readStored(id: string, api: Api): Promise<Stored> {
  const { data, etag } = await api.send<CriteriaCollectionDto>('GET', `${CRITERIA}/${id}`)
  return { collection: data, etag }
}
