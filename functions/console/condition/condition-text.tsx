import type { GroupOperator, WireGroup, WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import type { MessageKey } from '../language/english.ts'
import { t } from '../language/texts.ts'

const GROUP_TEXT: Readonly<Record<GroupOperator, MessageKey>> = { AND: 'and', OR: 'or', NOT: 'not', XOR: 'xor' }

export const groupText = (operator: GroupOperator): string => t(GROUP_TEXT[operator])

/** A condition to read: nested lists of sentences. */
export function ConditionText({ condition: { groupOperator, conditions } }: { readonly condition: WireGroup }) {
  return (
    <div class="condition">
      <p>{groupText(groupOperator)}</p>
      <ul>
        {conditions.map((node) => (
          <li key={JSON.stringify(node)}>
            {'groupOperator' in node ? <ConditionText condition={node} /> : <LeafText leaf={node} />}
          </li>
        ))}
      </ul>
    </div>
  )
}

function LeafText({ leaf: { field, operator, value } }: { readonly leaf: WireLeaf }) {
  const values = value === undefined ? [] : [value].flat()
  return (
    <>
      <code>{field}</code> {t(operator)}{' '}
      {operator !== 'IsNull' && values.map((one) => <code key={String(one)}>{String(one)}</code>)}
    </>
  )
}
