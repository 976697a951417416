import type { GroupOperator } from '../../../shared/domain/criteria/condition.ts'
import type { MessageKey } from '../language/english.ts'
import { t } from '../language/texts.ts'
import { fieldText, valueText } from './attribute-text.ts'
import type { NamesById } from './condition-text.tsx'
import { type EditedGroup, type EditedLeaf, type EditedNode, isOperand } from './condition-tree.ts'
import { operatorText } from './operator-text.ts'

const CONJUNCTION: Readonly<Record<GroupOperator, MessageKey>> = {
  AND: 'sentenceAnd',
  OR: 'sentenceOr',
  NOT: 'sentenceOr',
  XOR: 'sentenceOr',
}

/** A condition as one sentence. What is missing in it is "…". */
export function conditionSentence(tree: EditedGroup, names: NamesById): string {
  const text = groupSentence(tree, names, true)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function groupSentence({ operator, over, children }: EditedGroup, names: NamesById, isOuter: boolean): string {
  const joined = children.map((child) => nodeSentence(child, names)).join(` ${t(CONJUNCTION[operator])} `)
  const isList = children.length > 1
  const inner =
    operator === 'NOT'
      ? t('sentenceNot', { inner: `(${joined})` })
      : operator === 'XOR' && isList
        ? t('sentenceXor', { inner: `(${joined})` })
        : isList && !(isOuter && over === undefined)
          ? `(${joined})`
          : joined
  return over === undefined ? inner : t('sentenceAnyPosition', { inner })
}

function nodeSentence(node: EditedNode, names: NamesById): string {
  return node.kind === 'group' ? groupSentence(node, names, false) : leafSentence(node, names)
}

const VALUES_NAMED = 5

function leafSentence({ id, field, operator, value }: EditedLeaf, names: NamesById): string {
  if (id === '') return '…'
  const start = `${fieldText(field, id)} ${operatorText(operator, id)}`
  if (operator === 'IsNull') return start
  if (value === undefined) return `${start} …`
  if (isOperand(value)) return `${start} ${value.attribute === '' ? '…' : fieldText(value.attribute, value.attribute)}`
  const values = [value].flat().map((item) => valueText(String(item), names) || '“”')
  const more = values.length > VALUES_NAMED ? ` ${t('andMore', { count: values.length - VALUES_NAMED })}` : ''
  return `${start} ${values.slice(0, VALUES_NAMED).join(` ${t('sentenceOr')} `)}${more}`
}
