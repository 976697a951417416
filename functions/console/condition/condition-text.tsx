import type { GroupOperator, WireGroup, WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import type { MessageKey } from '../language/english.ts'
import { t } from '../language/texts.ts'
import { fieldText, valueText } from './attribute-text.ts'
import { isOperand } from './condition-tree.ts'
import { operatorText } from './operator-text.ts'

const GROUP_TEXT: Readonly<Record<GroupOperator, MessageKey>> = { AND: 'and', OR: 'or', NOT: 'not', XOR: 'xor' }

export const groupText = (operator: GroupOperator, over?: WireGroup['over']): string =>
  over === undefined ? t(GROUP_TEXT[operator]) : t('inAnyPosition', { group: t(GROUP_TEXT[operator]) })

/** Names of what conditions name by id. */
export type NamesById = ReadonlyMap<string, string>

type NodeTextProps = { readonly node: WireGroup | WireLeaf; readonly names: NamesById }

/** A condition or a part of one to read: nested lists of sentences. */
export function NodeText({ node, names }: NodeTextProps) {
  if (!('groupOperator' in node)) return <LeafText leaf={node} names={names} />
  const { groupOperator, over, conditions } = node
  return (
    <div class="condition">
      <p class="faint">{groupText(groupOperator, over)}</p>
      <ul>
        {conditions.map((child) => (
          <li key={JSON.stringify(child)}>
            <NodeText node={child} names={names} />
          </li>
        ))}
      </ul>
    </div>
  )
}

const VALUES_SHOWN = 20

type LeafTextProps = { readonly leaf: WireLeaf; readonly names: NamesById }

/** One comparison as a sentence. */
export function LeafText({ leaf: { id, field, operator, value }, names }: LeafTextProps) {
  const values = value === undefined || operator === 'IsNull' ? [] : valueTexts(value)
  const shown = values.slice(0, VALUES_SHOWN)
  return (
    <span>
      <strong title={field}>{fieldText(field, id)}</strong> {operatorText(operator, id)}{' '}
      {shown.map((item, index) => (
        <span key={item}>
          {index > 0 && ', '}
          <code>{valueText(item, names)}</code>
        </span>
      ))}
      {values.length > shown.length && ` ${t('andMore', { count: values.length - shown.length })}`}
    </span>
  )
}

function valueTexts(value: NonNullable<WireLeaf['value']>): string[] {
  return isOperand(value) ? [fieldText(value.attribute, value.attribute)] : [value].flat().map(String)
}
