import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { Choice, TextField } from '../components/fields.tsx'
import { Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { askBeforeLeaving } from '../router.ts'

/** What collections of both kinds have. */
export type CollectionHead = {
  readonly name: string
  readonly description: string
  readonly objectType: string
}

type HeadFieldsProps<ObjectType extends string> = {
  readonly head: CollectionHead
  readonly objectTypes: readonly ObjectType[]
  /** The type of an existing collection cannot be changed. */
  readonly isNew: boolean
  readonly onChange: (head: CollectionHead) => void
  readonly children?: ComponentChildren
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
