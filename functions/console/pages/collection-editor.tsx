import { useEffect, useMemo, useState } from 'preact/hooks'
import type { CriteriaCollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { CollectionVersion } from '../../../shared/domain/insight/collection-versions.ts'
import { type ApiFault, ApiRefusal } from '../api.ts'
import { ActionButton } from '../components/actions.tsx'
import { ConflictNotice, differencesOf, hiddenText } from '../components/conflict.tsx'
import { ErrorNotice, isStale } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { ConditionBuilder } from '../condition/builder.tsx'
import { completePart, pointerInTree } from '../condition/complete-part.ts'
import { ConditionAsText } from '../condition/condition-as-text.tsx'
import type { ConditionChoices } from '../condition/condition-choices.ts'
import { conditionSentence } from '../condition/condition-sentence.ts'
import type { NamesById } from '../condition/condition-text.tsx'
import { conditionOf, type EditedGroup, editedGroup, isComplete, newGroup } from '../condition/condition-tree.ts'
import type { TreeNotes } from '../condition/node-notes.tsx'
import { PlanDialog, readPlan } from '../condition/plan.tsx'
import type { NamedPlan } from '../condition/plan-notices.tsx'
import { Preview, usePreview } from '../condition/preview.tsx'
import { TestedPerson, useTestedPerson } from '../condition/tested-person.tsx'
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
  criteriaPath,
  readEditorStart,
  readTheirCriteria,
  type StoredCriteria,
  saveCriteria,
} from './stored-criteria.ts'

const OBJECT_TYPES = ['Identity', 'Relationship', 'OrgUnit'] as const

type CollectionEditorProps = {
  readonly parameters: { readonly id?: string }
  /** An earlier version to start from. Its effect is shown at once. */
  readonly former?: CollectionVersion
}

/** Creates a criteria collection, or changes one, with a preview of who matches. */
export function CollectionEditor({ parameters: { id }, former }: CollectionEditorProps) {
  const { api } = useConsole()
  const start = useResource(id ?? 'new', (signal) => readEditorStart(id, former, api, signal))
  return (
    <EditorPage id={id} former={former} newTitle={t('newCriteriaCollection')} start={start}>
      {({ stored, choices }) => <Editor key={id ?? 'new'} start={stored} former={former} choices={choices} />}
    </EditorPage>
  )
}

type EditorProps = {
  readonly start: StoredCriteria
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
  const [theirs, setTheirs] = useState<StoredCriteria | undefined>(undefined)
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
      setPlanned({ ...(await readPlan(criteriaPath(base), body, api)), isChanged })
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
      const id = await saveWithUndo(base.collection?.id, head.name, () => saveCriteria(base, body, planId, api), api)
      navigate(`/collections/${id}`, t('savedNamed', { name: head.name }))
    } catch (error) {
      if (error instanceof ApiRefusal && (error.has('PlanChanged') || error.has('PlanExpired'))) return review(true)
      if (!isStale(error) || base.collection === undefined) throw error
      setPlanned(undefined)
      setTheirs(await readTheirCriteria(base.collection.id, choices, api))
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
            hidden={hiddenText(kept(former ?? base.collection), kept(theirs.collection), former !== undefined)}
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
          <CancelLink id={base.collection?.id} />
        </div>
      </div>
      {planned !== undefined && (
        <PlanDialog
          {...planned}
          change={{ path: base.collection && criteriaPath(base), body }}
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

function treeOf(collection: Definition | undefined): EditedGroup {
  return collection === undefined ? newGroup() : editedGroup(collection.condition as WireGroup)
}

const textOf = (tree: EditedGroup): string => JSON.stringify(conditionOf(tree))

function isChanged(base: StoredCriteria, head: CollectionHead, tree: EditedGroup): boolean {
  return (
    JSON.stringify([headOf(base.collection), textOf(treeOf(base.collection))]) !== JSON.stringify([head, textOf(tree)])
  )
}

function differences(head: CollectionHead, tree: EditedGroup, theirs: StoredCriteria, names: NamesById) {
  const [other, otherTree] = [headOf(theirs.collection), treeOf(theirs.collection)]
  return differencesOf([
    ...headParts(head, other),
    { head: t('condition'), mine: conditionSentence(tree, names), theirs: conditionSentence(otherTree, names) },
  ])
}

/** What the editor does not show and must not lose. */
const kept = (collection: Definition | undefined): object =>
  collection === undefined ? {} : { metadata: collection.metadata }

/** The faults of a refused condition, with pointers into the condition. */
function faultsOfCondition(error: unknown, prefix: string): ApiFault[] {
  if (!(error instanceof ApiRefusal)) return []
  return error.faults.flatMap((fault) =>
    fault.target?.startsWith(prefix) ? [{ ...fault, target: fault.target.slice(prefix.length) }] : [],
  )
}
