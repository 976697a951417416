import { useId, useState } from 'preact/hooks'
import type { Operator } from '../../../shared/domain/criteria/condition.ts'
import { TextField } from '../components/fields.tsx'
import { shortPause } from '../components/item-picker.tsx'
import { numberOf, t } from '../language/texts.ts'
import { type Resource, useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import { type Example, nearestExample } from './nearest-example.ts'

type TextValueFieldProps = {
  readonly attribute: string
  /** Undefined where a function is around the attribute, so that its values are not the compared ones. */
  readonly operator: Operator | undefined
  /** Several values are written one per line. */
  readonly isList: boolean
  readonly text: string
  readonly onInput: (text: string) => void
}

/** Maximum number of values in an answer of the API. */
const MAX_EXAMPLES = 50
const EXAMPLES_NAMED = 4

/**
 * A text to compare with. In the field, the values that the data have are offered: the most frequent, then those typed.
 */
export function TextValueField({ attribute, operator, isList, text, onInput }: TextValueFieldProps) {
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
      {isUsed && (operator === 'Equals' || operator === 'In') && (
        <Suggestion attribute={attribute} frequent={frequent.value ?? []} text={text} onInput={onInput} />
      )}
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

type SuggestionProps = {
  readonly attribute: string
  readonly frequent: readonly Example[]
  readonly text: string
  readonly onInput: (text: string) => void
}

/** For the first line that no object has as its value: the value of the data that is probably meant. */
function Suggestion({ attribute, frequent, text, onInput }: SuggestionProps) {
  const lines = text.split('\n').map((line) => line.trim())
  const isKnown = (line: string) => line === '' || frequent.some(({ value }) => value === line)
  const unknown = lines.find((line) => !isKnown(line))
  const containing = useExamples(unknown === undefined ? '' : attribute, unknown ?? '')
  if (unknown === undefined || containing.value === undefined || containing.isLoading) return null
  const found = containing.value
  if (found.some(({ value }) => value === unknown)) return null
  const nearest = nearestExample(unknown, [...found, ...frequent])
  return (
    <p class="hint" role="status">
      {t('valueUnknown', { value: unknown })}{' '}
      {nearest !== undefined && (
        <>
          {t('didYouMean')}{' '}
          <button
            type="button"
            class="link"
            onClick={() => onInput(lines.map((line) => (line === unknown ? nearest.value : line)).join('\n'))}
          >
            {countedText(nearest)}
          </button>
          {'?'}
        </>
      )}
    </p>
  )
}

/** The values of an attribute that contain a text, the most frequent first. None without an attribute. */
function useExamples(attribute: string, text: string): Resource<readonly Example[]> {
  const { api } = useConsole()
  const query = `attribute=${encodeURIComponent(attribute)}${text === '' ? '' : `&text=${encodeURIComponent(text)}`}`
  return useResource(query, async (signal) => {
    if (attribute === '') return []
    if (text !== '') await shortPause(signal)
    return api.read<readonly Example[]>(`/collections-criteria/beta/attribute-values?${query}`, signal)
  })
}

const countedText = ({ value, objectCount }: Example): string => `${value} (${numberOf(objectCount)})`

function hintOf({ value, error }: Resource<readonly Example[]>): string | undefined {
  if (error !== undefined) return t('examplesFailed')
  if (value === undefined || value.length === 0) return undefined
  const named = value.slice(0, EXAMPLES_NAMED).map(countedText)
  return t('examples', { values: named.join(', ') })
}
