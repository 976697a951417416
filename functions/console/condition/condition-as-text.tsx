import { useState } from 'preact/hooks'
import {
  GROUP_OPERATORS,
  GROUP_RANGES,
  OPERATORS,
  type WireGroup,
  type WireLeaf,
} from '../../../shared/domain/criteria/condition.ts'
import { useAction } from '../components/actions.tsx'
import { t } from '../language/texts.ts'
import { useConsole } from '../session.ts'
import type { ConditionChoices } from './condition-choices.ts'
import { conditionSentence } from './condition-sentence.ts'
import { conditionOf, type EditedGroup, editedGroup } from './condition-tree.ts'
import { readConditionNames } from './named-condition.tsx'

type ConditionAsTextProps = {
  readonly tree: EditedGroup
  readonly choices: ConditionChoices
  readonly onChange: (tree: EditedGroup) => void
}

/** The condition as a sentence, and as the text of the API to copy and to paste. */
export function ConditionAsText({ tree, choices, onChange }: ConditionAsTextProps) {
  return (
    <>
      <p class="sentence" data-sentence>
        {conditionSentence(tree, choices.names)}
      </p>
      <details class="as-text">
        <summary>{t('conditionText')}</summary>
        <TextForm tree={tree} choices={choices} onChange={onChange} />
      </details>
    </>
  )
}

function TextForm({ tree, choices: { names }, onChange }: ConditionAsTextProps) {
  const { api } = useConsole()
  const current = JSON.stringify(conditionOf(tree), null, 2)
  const [typed, setTyped] = useState<string | undefined>(undefined)
  const [isCopied, setCopied] = useState(false)
  const condition = typed === undefined ? undefined : conditionIn(typed)
  const take = useAction(async () => {
    if (condition === undefined) return
    for (const [id, name] of await readConditionNames(condition, api, new AbortController().signal)) names.set(id, name)
    onChange(editedGroup(condition))
    setTyped(undefined)
  })
  return (
    <>
      <label class="field">
        <span>{t('conditionText')}</span>
        <textarea
          rows={8}
          spellcheck={false}
          class="code"
          value={typed ?? current}
          onInput={({ currentTarget: { value } }) => {
            setCopied(false)
            setTyped(value)
          }}
        />
        <small>{t('conditionTextHint')}</small>
      </label>
      <div class="actions">
        <button
          type="button"
          onClick={() => void navigator.clipboard.writeText(typed ?? current).then(() => setCopied(true))}
        >
          {t('copy')}
        </button>
        <button type="button" disabled={condition === undefined || take.isRunning} onClick={take.start}>
          {t('useText')}
        </button>
        <span role="status" class={typed !== undefined && condition === undefined ? 'fault' : 'faint'}>
          {typed !== undefined && condition === undefined ? t('conditionTextInvalid') : isCopied && t('copied')}
        </span>
      </div>
    </>
  )
}

/** The condition that a text is; undefined for any other text. The API checks the rest. */
export function conditionIn(text: string): WireGroup | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isGroup(value) ? value : undefined
  } catch (fault) {
    if (fault instanceof SyntaxError) return undefined
    throw fault
  }
}

function isGroup(value: unknown): value is WireGroup {
  if (typeof value !== 'object' || value === null) return false
  const { groupOperator, over, conditions } = value as Partial<Record<keyof WireGroup, unknown>>
  return (
    isOneOf(GROUP_OPERATORS, groupOperator) &&
    (over === undefined || isOneOf(GROUP_RANGES, over)) &&
    Array.isArray(conditions) &&
    conditions.length > 0 &&
    conditions.every((node) => isGroup(node) || isLeaf(node))
  )
}

function isLeaf(value: unknown): value is WireLeaf {
  if (typeof value !== 'object' || value === null) return false
  const { id, field, operator } = value as Partial<Record<keyof WireLeaf, unknown>>
  return typeof id === 'string' && typeof field === 'string' && isOneOf(OPERATORS, operator)
}

const isOneOf = (allowed: readonly string[], value: unknown): boolean => allowed.some((one) => one === value)
