import { useState } from 'preact/hooks'
import { useAction } from '../components/actions.tsx'
import { t } from '../language/texts.ts'
import { useConsole } from '../session.ts'
import type { ConditionChoices } from './condition-choices.ts'
import { conditionIn } from './condition-in-text.ts'
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
    for (const [id, name] of await readConditionNames(condition, api)) names.set(id, name)
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
