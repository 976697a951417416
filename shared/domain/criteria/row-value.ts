import { toTimestamp } from '../../kernel/timestamp.ts'
import { textOfBytes } from '../tenant-index/rows/code-point-bytes.ts'
import type { Column } from '../tenant-index/rows/column.ts'
import type { TextValues } from '../tenant-index/rows/column-values.ts'
import type { CheckedLeaf } from './condition.ts'
import { addedDays } from './leaf-test.ts'
import { TextFunctions } from './text-functions.ts'

/** The value that a leaf compares on one row: ids or texts where it is a list. Null when the attribute is missing. */
export type RowValue = string | number | boolean | readonly string[] | null

/** The value of an attribute of one object, after the functions of the leaf. */
export function rowValue(
  { type, functions }: Pick<CheckedLeaf, 'type' | 'functions'>,
  { values }: Column,
  code: number,
): RowValue {
  if (code === 0) return null
  switch (values.kind) {
    case 'reference':
      return values.target.idOf(code)
    case 'list':
      return values.idsOf(code).sort()
    case 'instant': {
      if (functions.length === 0) return values.textOf(code)
      return timestampOrNull(values.zone.addDays(values.instantsMs[code] as number, addedDays({ functions })))
    }
    case 'text': {
      const text = textAfter(functions, values, code)
      if (type === 'Integer') return Number(text)
      return type === 'Boolean' ? text === 'true' : text
    }
  }
}

function textAfter(functions: CheckedLeaf['functions'], { dictionary }: TextValues, code: number): string {
  if (functions.length === 0) return dictionary.textOf(code)
  const { bytes, offsets } = dictionary.entries
  const changed = new TextFunctions(functions)
  changed.apply(bytes, offsets[code] as number, offsets[code + 1] as number)
  return textOfBytes(changed.bytes, changed.start, changed.end)
}

/** Null for an instant that `AddDays` moves out of the range of dates. */
function timestampOrNull(instantMs: number): string | null {
  return Number.isNaN(new Date(instantMs).getTime()) ? null : toTimestamp(instantMs)
}
