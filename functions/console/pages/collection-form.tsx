import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { CollectionVersion } from '../../../shared/domain/insight/collection-versions.ts'
import type { Api } from '../api.ts'
import { newestVersion, offerUndo } from '../collection-versions.ts'
import type { Difference } from '../components/conflict.tsx'
import { Choice, TextField } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { t, timeOf } from '../language/texts.ts'
import type { Resource } from '../resource.ts'
import { askBeforeLeaving, hrefOf } from '../router.ts'

/** What collections of both kinds have. */
export type CollectionHead = {
  readonly name: string
  readonly description: string
  readonly objectType: string
}

/** The head of a stored collection, or of a version of it; without one, that of a new collection. */
export function headOf(
  collection: (Pick<CollectionDto, 'name' | 'description'> & { readonly objectType: string }) | undefined,
): CollectionHead {
  const { name = '', description, objectType = 'Identity' } = collection ?? {}
  return { name, description: description ?? '', objectType }
}

/** The parts of two heads that people can change, beside each other. */
export function headParts(mine: CollectionHead, theirs: CollectionHead): readonly Difference[] {
  return [
    { head: t('name'), mine: mine.name, theirs: theirs.name },
    { head: t('description'), mine: mine.description, theirs: theirs.description },
  ]
}

type EditorPageProps<Start> = {
  /** Of a stored collection. */
  readonly id: string | undefined
  /** An earlier version that is to be restored. */
  readonly former: CollectionVersion | undefined
  readonly newTitle: string
  readonly start: Resource<Start>
  readonly children: (start: Start) => ComponentChildren
}

/** The page of an editor, which is shown once what it starts with is loaded. */
export function EditorPage<Start extends { readonly stored: { readonly collection: CollectionDto | undefined } }>({
  id,
  former,
  newTitle,
  start,
  children,
}: EditorPageProps<Start>) {
  const back =
    id === undefined
      ? { path: '/collections', text: t('collections') }
      : { path: `/collections/${id}`, text: start.value?.stored.collection?.name ?? t('collection') }
  const restored = former && t('restoreNamed', { time: timeOf(former.at) })
  return (
    <Page title={restored ?? (id === undefined ? newTitle : t('editCollection'))} back={back}>
      <Loaded resource={start}>{children}</Loaded>
    </Page>
  )
}

/** @param id Of a stored collection. */
export function CancelLink({ id }: { readonly id: string | undefined }) {
  return (
    <a class="button" href={hrefOf(id === undefined ? '/collections' : `/collections/${id}`)}>
      {t('cancel')}
    </a>
  )
}

/** Saves a change of a stored collection, or a new one, and offers to undo a change. @returns The id. */
export async function saveWithUndo(
  id: string | undefined,
  name: string,
  save: () => Promise<string>,
  api: Api,
): Promise<string> {
  const version = id && (await newestVersion(api, id))
  const savedId = await save()
  if (version !== undefined) offerUndo({ collectionId: savedId, name, version }, Date.now())
  return savedId
}

type HeadFieldsProps<ObjectType extends string> = {
  readonly head: CollectionHead
  readonly objectTypes: readonly ObjectType[]
  /** The type of an existing collection cannot be changed. */
  readonly isNew: boolean
  readonly onChange: (head: CollectionHead) => void
}

/** Name, description and type. */
export function HeadFields<ObjectType extends 'Identity' | 'Relationship' | 'OrgUnit'>({
  head,
  objectTypes,
  isNew,
  onChange,
}: HeadFieldsProps<ObjectType>) {
  return (
    <Section title={t('general')}>
      <TextField
        label={t('name')}
        value={head.name}
        onInput={(name) => onChange({ ...head, name })}
        required
        maxLength={256}
      />
      <TextField
        label={t('description')}
        value={head.description}
        onInput={(description) => onChange({ ...head, description })}
        multiline
        maxLength={2048}
      />
      {isNew && (
        <Choice
          label={t('containedType')}
          value={head.objectType as ObjectType}
          options={objectTypes.map((value) => ({ value, text: t(value) }))}
          onChange={(objectType) => onChange({ ...head, objectType })}
        />
      )}
    </Section>
  )
}

/** Asks before the person leaves a form with changes. */
export function useUnsaved(isChanged: boolean): void {
  useEffect(() => {
    askBeforeLeaving(isChanged ? t('leaveUnsaved') : undefined)
    return () => askBeforeLeaving(undefined)
  }, [isChanged])
}
