import { useState } from 'preact/hooks'
import type { CollectionDto, CriteriaCollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import { type Api, type ApiFault, ApiRefusal } from '../api.ts'
import { ActionButton } from '../components/actions.tsx'
import { Choice, TextField } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { ConditionBuilder } from '../condition/builder.tsx'
import { conditionOf, type EditedGroup, editedGroup, isComplete, newGroup } from '../condition/condition-tree.ts'
import type { ConditionChoices } from '../condition/leaf-editor.tsx'
import { Preview, usePreview } from '../condition/preview.tsx'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { navigate } from '../router.ts'
import { useConsole } from '../session.ts'

const CRITERIA = '/collections-criteria/beta'
const OBJECT_TYPES = ['Identity', 'Relationship', 'OrgUnit'] as const

type Start = {
  readonly collection: CriteriaCollectionDto | undefined
  readonly etag: string | undefined
  readonly choices: ConditionChoices
}

/** Creates a criteria collection, or changes one, with a preview of who matches. */
export function CollectionEditor({ parameters: { id } }: { readonly parameters: { readonly id?: string } }) {
  const { api } = useConsole()
  const start = useResource(id ?? 'new', () => readStart(id, api))
  return (
    <Page title={id === undefined ? t('newCriteriaCollection') : t('editCollection')}>
      <Loaded resource={start}>{(loaded) => <Editor key={loaded.etag ?? 'new'} {...loaded} />}</Loaded>
    </Page>
  )
}

function Editor({ collection, etag, choices }: Start) {
  const { api } = useConsole()
  const [name, setName] = useState(collection?.name ?? '')
  const [description, setDescription] = useState(collection?.description ?? '')
  const [objectType, setObjectType] = useState<string>(collection?.objectType ?? 'Identity')
  const [tree, setTree] = useState<EditedGroup>(() => startTree(collection))
  const [saveFaults, setSaveFaults] = useState<readonly ApiFault[]>([])
  const preview = usePreview(tree, objectType, collection?.id)
  const save = async () => {
    setSaveFaults([])
    const body = { ...kept(collection), objectType, name, description, condition: conditionOf(tree) }
    try {
      navigate(`/collections/${await saved(collection, etag, body, api)}`)
    } catch (error) {
      if (error instanceof ApiRefusal) setSaveFaults(faultsOfCondition(error, '/condition'))
      throw error
    }
  }
  const change = (next: EditedGroup) => {
    setSaveFaults([])
    setTree(next)
  }
  return (
    <form onSubmit={(event) => event.preventDefault()}>
      <TextField label={t('name')} value={name} onInput={setName} required maxLength={200} />
      <TextField label={t('description')} value={description} onInput={setDescription} multiline maxLength={1000} />
      <Choice
        label={t('type')}
        value={objectType}
        options={OBJECT_TYPES.filter((type) => collection === undefined || type === objectType).map((type) => ({
          value: type,
          text: t(type),
        }))}
        onChange={setObjectType}
      />
      <Section title={t('condition')}>
        <ConditionBuilder
          group={tree}
          choices={choices}
          faults={[...faultsOfCondition(preview.error, '/preview/condition'), ...saveFaults]}
          onChange={change}
        />
      </Section>
      <Preview preview={preview} isComplete={isComplete(tree)} isNew={collection === undefined} />
      <div class="actions">
        <ActionButton kind="primary" run={save} disabled={name.trim() === '' || !isComplete(tree)}>
          {t('save')}
        </ActionButton>
      </div>
    </form>
  )
}

function startTree(collection: CriteriaCollectionDto | undefined): EditedGroup {
  return collection === undefined ? newGroup() : editedGroup(collection.condition as WireGroup)
}

/** What the editor does not show and must not lose. */
function kept(collection: CriteriaCollectionDto | undefined): object {
  return collection === undefined ? {} : { metadata: collection.metadata }
}

/** @returns The id of the collection. */
async function saved(
  collection: CriteriaCollectionDto | undefined,
  ifMatch: string | undefined,
  body: object,
  api: Api,
): Promise<string> {
  if (collection === undefined) return (await api.send<string>('POST', CRITERIA, { body })).data
  await api.send('PUT', `${CRITERIA}/${collection.id}`, { body, ifMatch })
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

async function readStart(id: string | undefined, api: Api): Promise<Start> {
  const [schemas, collections, stored] = await Promise.all([
    api.send<TenantSchemas>('GET', `${CRITERIA}/tenant-schemas`),
    api.all<CollectionDto>('/collections/beta'),
    id === undefined ? undefined : api.send<CriteriaCollectionDto>('GET', `${CRITERIA}/${id}`),
  ])
  const choices = { types: schemas.data.identitySchema, collections: collections.filter((one) => one.id !== id) }
  return { collection: stored?.data, etag: stored?.etag, choices }
}
