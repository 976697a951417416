import { useId, useState } from 'preact/hooks'
import { TextField } from '../components/fields.tsx'
import { pause } from '../components/item-picker.tsx'
import { t } from '../language/texts.ts'
import { type Resource, useResource } from '../resource.ts'
import { useConsole } from '../session.ts'

type TextValueFieldProps = {
  readonly attribute: string
  /** Several values are written one per line. */
  readonly isList: boolean
  readonly text: string
  readonly onInput: (text: string) => void
}

/** A value of the data, and how many objects have it. */
type Example = { readonly value: string; readonly objectCount: number }

/** Maximum number of values in an answer of the API. */
const MAX_EXAMPLES = 50
const EXAMPLES_NAMED = 4
/** Milliseconds after the last key. */
const SEARCHED_AFTER_MS = 200

/**
 * A text to compare with. In the field, the values that the data have are offered: the most frequent, then those typed.
 */
export function TextValueField({ attribute, isList, text, onInput }: TextValueFieldProps) {
  const listId = useId()
  const [isUsed, setUsed] = useState(false)
  const frequent = useExamples(isUsed ? attribute : '', '')
  const isLong = frequent.value?.length === MAX_EXAMPLES
  const typed = useExamples(isLong && !isList ? attribute : '', text.trim())
  const offered = typed.value?.length ? typed.value : (frequent.value ?? [])
  return (
    <>
      <TextField
        label={isList ? t('valuesOnePerLine') : t('value')}
        multiline={isList}
        value={text}
        onInput={onInput}
        onFocus={() => setUsed(true)}
        list={listId}
        hint={hintOf(frequent)}
      />
      {!isList && offered.length > 0 && (
        <datalist id={listId}>
          {offered.map(({ value, objectCount }) => (
            <option key={value} value={value}>
              {t('objectCount', { count: objectCount })}
            </option>
          ))}
        </datalist>
      )}
    </>
  )
}

/** The values of an attribute that contain a text, the most frequent first. None without an attribute. */
function useExamples(attribute: string, text: string): Resource<readonly Example[]> {
  const { api } = useConsole()
  const query = `attribute=${encodeURIComponent(attribute)}${text === '' ? '' : `&text=${encodeURIComponent(text)}`}`
  return useResource(query, async (signal) => {
    if (attribute === '') return []
    if (text !== '') await pause(SEARCHED_AFTER_MS, signal)
    return (
      await api.send<readonly Example[]>('GET', `/collections-criteria/beta/attribute-values?${query}`, { signal })
    ).data
  })
}

function hintOf({ value, error }: Resource<readonly Example[]>): string | undefined {
  if (error !== undefined) return t('examplesFailed')
  if (value === undefined || value.length === 0) return undefined
  const named = value.slice(0, EXAMPLES_NAMED).map((one) => one.value)
  return t('examples', { values: named.join(', ') })
}
