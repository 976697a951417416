import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { languageCode, t } from '../language/texts.ts'
import { attributeParts, attributeText, compareAttributes } from './attribute-text.ts'
import type { ConditionChoices } from './condition-choices.ts'

type Types = ConditionChoices['types']

type AttributeFieldProps = {
  readonly label: string
  /** A schema name, or what was typed instead. */
  readonly value: string
  readonly types: Types
  readonly onInput: (name: string) => void
}

type Option = {
  readonly name: string
  readonly object: string
  readonly text: string
  /** Lower case, with the object. */
  readonly shown: string
}

/** A searchable box of attributes by the object that has them: a combobox with a list below it. */
export function AttributeField({ label, value, types, onInput }: AttributeFieldProps) {
  const listId = useId()
  const list = useRef<HTMLDivElement>(null)
  const [typed, setTyped] = useState<string | undefined>(undefined)
  const [isOpen, setOpen] = useState(false)
  const [active, setActive] = useState(-1)
  const found = useOptions(isOpen ? types : NO_TYPES, typed ?? '')
  const isKnown = Object.hasOwn(types, value)
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest' })
  }, [active])
  const close = () => {
    setOpen(false)
    setActive(-1)
  }
  const pick = (name: string) => {
    setTyped(undefined)
    close()
    onInput(name)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) {
      event.preventDefault()
      setOpen(true)
      setActive(Math.max(0, Math.min(found.length - 1, active + step)))
    }
    const chosen = found[active]
    if (event.key === 'Enter' && isOpen && chosen !== undefined) {
      event.preventDefault()
      pick(chosen.name)
    }
    if (event.key === 'Escape' && isOpen) {
      event.preventDefault()
      close()
    }
  }
  return (
    <div class="field combo">
      <label for={`${listId}-input`}>{label}</label>
      <input
        id={`${listId}-input`}
        type="text"
        role="combobox"
        autocomplete="off"
        aria-autocomplete="list"
        aria-expanded={isOpen}
        aria-controls={listId}
        aria-activedescendant={active >= 0 ? `${listId}-${active}` : undefined}
        placeholder={t('chooseAttribute')}
        title={isKnown ? attributeText(value) : undefined}
        value={typed ?? (isKnown ? attributeText(value) : value)}
        onClick={() => setOpen(true)}
        onFocus={({ currentTarget }) => currentTarget.select()}
        onBlur={() => {
          setTyped(undefined)
          close()
        }}
        onKeyDown={onKeyDown}
        onInput={({ currentTarget: { value: text } }) => {
          setTyped(text)
          setOpen(true)
          setActive(-1)
          onInput(attributeNamed(text, types) ?? text)
        }}
      />
      {isOpen && (
        <div class="suggestions" id={listId} role="listbox" aria-label={label} ref={list}>
          {found.length === 0 && <p class="hint">{t('foundNone')}</p>}
          <OptionGroups listId={listId} found={found} active={active} onPick={pick} />
        </div>
      )}
    </div>
  )
}

const NO_TYPES: Types = {}

type OptionGroupsProps = {
  readonly listId: string
  readonly found: readonly Option[]
  readonly active: number
  readonly onPick: (name: string) => void
}

/** The attributes that were found, below the object that has them. */
function OptionGroups({ listId, found, active, onPick }: OptionGroupsProps) {
  const objects = [...new Set(found.map(({ object }) => object))]
  return (
    <>
      {objects.map((object) => (
        // biome-ignore lint/a11y/useSemanticElements: a group of options in a list box is no fieldset
        <div key={object} role="group" aria-label={object}>
          <p class="hint" aria-hidden="true">
            {object}
          </p>
          {found.map(
            (option, index) =>
              option.object === object && (
                // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the box has the focus and the keys
                <div
                  key={option.name}
                  id={`${listId}-${index}`}
                  role="option"
                  aria-selected={index === active}
                  title={option.name}
                  // The box keeps the focus.
                  onMouseDown={(event) => event.preventDefault()}
                  onClick={() => onPick(option.name)}
                >
                  {option.text}
                </div>
              ),
          )}
        </div>
      ))}
    </>
  )
}

/**
 * The attributes whose name to read has a word that begins with each word of a text; if there are none, those that
 * contain each word, in the name to read or else in that of the schema.
 */
function useOptions(types: Types, text: string): readonly Option[] {
  const language = languageCode.value
  const options = useMemo(
    () =>
      Object.keys(types)
        .sort(compareAttributes)
        .map((name): Option => {
          const [object, rest] = attributeParts(name)
          return { name, object, text: rest, shown: `${object} ${rest}`.toLowerCase() }
        })
        .sort((left, right) => objectOrder(left) - objectOrder(right)),
    [types, language],
  )
  const words = text.toLowerCase().split(/[\s:]+/)
  const begun = options.filter((option) => words.every((word) => ` ${option.shown}`.includes(` ${word}`)))
  if (begun.length > 0) return begun
  const shown = options.filter((option) => words.every((word) => option.shown.includes(word)))
  if (shown.length > 0) return shown
  return options.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)))
}

function objectOrder({ object }: Option): number {
  const order = [t('objectIdentity'), t('objectRelationship'), t('objectOrgUnit')].indexOf(object)
  return order === -1 ? Number.POSITIVE_INFINITY : order
}

/** The attribute whose name to read a text is, in any case. Undefined while the text can become another such name. */
function attributeNamed(text: string, types: Types): string | undefined {
  const wanted = text.trim().toLowerCase()
  if (wanted === '' || Object.hasOwn(types, text)) return undefined
  const [only, ...others] = Object.keys(types).filter((name) => attributeText(name).toLowerCase().startsWith(wanted))
  return only !== undefined && others.length === 0 && attributeText(only).toLowerCase() === wanted ? only : undefined
}
