import { attributeDefinition } from '../../shared/domain/core/attributes.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'

const LIST_SEPARATOR = '|'

/**
 * Converts the cells of a CSV row to the data of a connector object. A reference is an external ID, lists are separated
 * by `|`, empty cells are omitted. Invalid values are sent unchanged: the API reports them with a precise message.
 */
export function dataOfCells(objectType: ObjectType, cells: ReadonlyMap<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    [...cells].flatMap(([name, cell]) => (cell === '' ? [] : [[name, valueOfCell(objectType, name, cell)]])),
  )
}

function valueOfCell(objectType: ObjectType, name: string, cell: string): unknown {
  switch (attributeDefinition(objectType, name)?.kind) {
    case 'boolean':
      return asBoolean(cell)
    case 'reference':
      return { externalId: cell }
    case 'references':
      return listed(cell).map((externalId) => ({ externalId }))
    case 'guids':
      return listed(cell)
    default:
      return cell
  }
}

const listed = (cell: string): string[] =>
  cell
    .split(LIST_SEPARATOR)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '')

function asBoolean(cell: string): unknown {
  const word = cell.trim().toLowerCase()
  return word === 'true' || word === 'false' ? word === 'true' : cell
}
