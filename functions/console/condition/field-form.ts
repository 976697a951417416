/** How a field reads its attribute. `Written`: functions within functions, edited as text. */
export type FieldForm =
  | { readonly name: 'Plain' | 'ToUpper' | 'ToLower' | 'Today' }
  | { readonly name: 'Substring'; readonly start: string; readonly length: string }
  | { readonly name: 'AddDays'; readonly days: string }
  | { readonly name: 'Written'; readonly text: string }
export type FieldFormName = FieldForm['name']

/** The forms that the API takes for a type: functions of text, or of dates. */
export function formsOf(type: string | undefined): readonly FieldFormName[] {
  if (type === 'String') return ['Plain', 'ToUpper', 'ToLower', 'Substring', 'Written']
  if (type === 'DateTime') return ['Plain', 'AddDays', 'Today']
  return ['Plain']
}

/** `fieldOf` of the result is the same field again. */
export function fieldForm(field: string, id: string): FieldForm {
  if (field === id) return { name: 'Plain' }
  if (field === 'Today()') return { name: 'Today' }
  for (const name of ['ToUpper', 'ToLower'] as const) if (field === `${name}(${id})`) return { name }
  const inner = field.slice(field.indexOf(`(${id},`) + id.length + 2, -1)
  const [first = '', second = ''] = inner.split(',')
  const candidates: readonly FieldForm[] = [
    { name: 'Substring', start: first, length: second },
    { name: 'AddDays', days: first },
  ]
  return candidates.find((form) => fieldOf(form, id) === field) ?? { name: 'Written', text: field }
}

export function fieldOf(form: FieldForm, id: string): string {
  switch (form.name) {
    case 'Plain':
      return id
    case 'Today':
      return 'Today()'
    case 'ToUpper':
    case 'ToLower':
      return `${form.name}(${id})`
    case 'Substring':
      return `Substring(${id},${form.start},${form.length})`
    case 'AddDays':
      return `AddDays(${id},${form.days})`
    case 'Written':
      return form.text
  }
}

/** The form when a person chooses another one. */
export function newForm(name: FieldFormName, field: string): FieldForm {
  if (name === 'Substring') return { name, start: '0', length: '1' }
  if (name === 'AddDays') return { name, days: '0' }
  if (name === 'Written') return { name, text: field }
  return { name }
}

/** The value of a DateTime leaf. `Written`: a time of day, or a text that is none of the others. */
export type DayForm =
  | { readonly name: 'Day'; readonly day: string }
  | { readonly name: 'FromToday'; readonly days: string }
  | { readonly name: 'Written'; readonly text: string }

const DAY = /^\d{4}-\d\d-\d\d$/
const FROM_TODAY = /^AddDays\(Today\(\),(-?\d*)\)$/

/** `dayValue` of the result is the same text again. */
export function dayForm(text: string): DayForm {
  if (text === '' || DAY.test(text)) return { name: 'Day', day: text }
  if (text === 'Today()') return { name: 'FromToday', days: '0' }
  const days = FROM_TODAY.exec(text)?.[1]
  const form: DayForm = { name: 'FromToday', days: days ?? '' }
  return days !== undefined && dayValue(form) === text ? form : { name: 'Written', text }
}

export function dayValue(form: DayForm): string {
  if (form.name === 'Day') return form.day
  if (form.name === 'Written') return form.text
  return form.days === '0' ? 'Today()' : `AddDays(Today(),${form.days})`
}

/** The values of a list, written one per line. Blank lines are none; undefined without a value. */
export function listValues(written: string): string[] | undefined {
  const values = written.split('\n').filter((line) => line.trim() !== '')
  return values.length === 0 ? undefined : values
}

/** A list as text, one value per line: as it was written last, also with blank lines, while it has these values. */
export function listText(values: readonly unknown[], written: string | undefined): string {
  const text = values.join('\n')
  return written !== undefined && (listValues(written) ?? []).join('\n') === text ? written : text
}
