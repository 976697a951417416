import type { WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import { t } from '../language/texts.ts'

/** An ordering of times reads "is after", of other values "is greater than". */
export function operatorText(operator: WireLeaf['operator'], id: string, type?: string): string {
  if (id === 'orgUnitWithAncestors' && operator === 'Contains') return t('Equals')
  if (id === 'orgUnitWithAncestors' && operator === 'NotContains') return t('NotEquals')
  const isTime = type === undefined ? /Date$/.test(id) : type === 'DateTime'
  const ordering = `time${operator}` as const
  switch (ordering) {
    case 'timeGreaterThan':
    case 'timeGreaterThanOrEqual':
    case 'timeLessThan':
    case 'timeLessThanOrEqual':
      return isTime ? t(ordering) : t(operator)
    default:
      return t(operator)
  }
}
