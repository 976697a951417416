import { useEffect, useRef } from 'preact/hooks'
import { t } from '../language/texts.ts'
import { queryValue, setQueryValue } from '../router.ts'

type TextFieldProps = {
  readonly label: string
  readonly value: string
  readonly onInput: (value: string) => void
  readonly required?: boolean
  readonly multiline?: boolean
  readonly maxLength?: number
  readonly type?: 'text' | 'number' | 'date'
  readonly onFocus?: () => void
  /** The id of a `datalist`. */
  readonly list?: string
  /** What can be entered. */
  readonly hint?: string | undefined
  /** Where the label cannot be seen. */
  readonly placeholder?: string
}

export function TextField(props: TextFieldProps) {
  const { label, value, onInput, hint, type = 'text', multiline = false, list, ...rest } = props
  const shared = {
    value,
    ...rest,
    onInput: (event: { readonly currentTarget: HTMLInputElement | HTMLTextAreaElement }) =>
      onInput(event.currentTarget.value),
  }
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is one of two
    <label class="field">
      <span>{label}</span>
      {multiline ? <textarea rows={3} {...shared} /> : <TypedInput type={type} list={list} {...shared} />}
      {hint !== undefined && <small>{hint}</small>}
    </label>
  )
}

type TypedInputProps = {
  readonly type: 'text' | 'number' | 'date'
  readonly value: string
  readonly required?: boolean
  readonly maxLength?: number
  readonly placeholder?: string
  readonly list?: string | undefined
  readonly onFocus?: () => void
  readonly onInput: (event: { readonly currentTarget: HTMLInputElement }) => void
}

function TypedInput({ type, ...rest }: TypedInputProps) {
  if (type === 'number') return <input type="number" step="1" {...rest} />
  return type === 'date' ? <input type="date" {...rest} /> : <input type="text" {...rest} />
}

type ChoiceProps<Value extends string> = {
  readonly label: string
  readonly value: Value | ''
  readonly options: readonly { readonly value: Value; readonly text: string }[]
  readonly onChange: (value: Value) => void
  readonly isLabelHidden?: boolean
}

/** A selection of one option. Without a value, it shows a dash. */
export function Choice<Value extends string>({ label, value, options, onChange, isLabelHidden }: ChoiceProps<Value>) {
  return (
    <label class="field">
      <span class={isLabelHidden ? 'visually-hidden' : undefined}>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
        {value === '' && <option value="">–</option>}
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </label>
  )
}

type CheckProps = {
  readonly label: string
  readonly isChecked: boolean
  readonly onChange: (isChecked: boolean) => void
}

export function Check({ label, isChecked, onChange }: CheckProps) {
  return (
    <label class="check">
      <input type="checkbox" checked={isChecked} onChange={(event) => onChange(event.currentTarget.checked)} />
      {label}
    </label>
  )
}

/**
 * A text or choice of a view that its address keeps, so that a reload and a link show the same.
 * @param name of the parameter of the address.
 */
export function useAddress(name: string): readonly [value: string, set: (value: string) => void] {
  return [queryValue(name) ?? '', (value) => setQueryValue(name, value)]
}

type SearchFieldProps = { readonly label: string; readonly value: string; readonly onInput: (value: string) => void }

/** The search of a view. The key `/` moves the focus to it. */
export function SearchField({ label, value, onInput }: SearchFieldProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey) return
      event.preventDefault()
      input.current?.focus()
    }
    addEventListener('keydown', focus)
    return () => removeEventListener('keydown', focus)
  }, [])
  return (
    <label class="field search">
      <span class="visually-hidden">{label}</span>
      <input
        ref={input}
        type="search"
        value={value}
        placeholder={label}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  )
}

export function Badge({
  kind,
  children,
}: {
  readonly kind: 'good' | 'bad' | 'warn' | 'plain'
  readonly children: string
}) {
  return <span class={`badge ${kind}`}>{children}</span>
}

export function OptionalText({ value }: { readonly value: string | null | undefined }) {
  if (value === null || value === undefined || value === '') return <span class="faint">{t('none')}</span>
  return <span>{value}</span>
}
