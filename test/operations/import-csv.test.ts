import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CsvRecord, readCsv } from '../../infra/import/csv.ts'

const records = (...lines: [number, ...string[]][]): CsvRecord[] => lines.map(([line, ...fields]) => ({ line, fields }))

describe('reading CSV', () => {
  for (const [claim, text, expected] of [
    ['ignores a byte order mark', '\uFEFFa,b\n1,2\n', records([1, 'a', 'b'], [2, '1', '2'])],
    ['accepts CRLF, LF and CR in one file', 'a\r\nb\nc\rd', records([1, 'a'], [2, 'b'], [3, 'c'], [4, 'd'])],
    ['unescapes doubled quotes', 'a,"b ""c"", d",""\n', records([1, 'a', 'b "c", d', ''])],
    [
      'numbers records by their first line',
      '"x\r\ny",2\r\n3,"\n"\n4',
      records([1, 'x\r\ny', '2'], [3, '3', '\n'], [5, '4']),
    ],
    ['ignores empty lines, and counts them', '\na\n\r\n""\nb\n\n', records([2, 'a'], [5, 'b'])],
    ['keeps records of different lengths', 'a,b\n1\n1,2,\n', records([1, 'a', 'b'], [2, '1'], [3, '1', '2', ''])],
    ['keeps spaces', ' a ,b \n', records([1, ' a ', 'b '])],
    ['returns nothing for an empty file', '', []],
  ] as const) {
    it(claim, () => assert.deepEqual(readCsv(text), { records: expected }))
  }
})

describe('a quoting error in CSV', () => {
  for (const [claim, text, line, reason] of [
    ['a quote that is not closed', 'a,b\n\n1,"never\n\nclosed\n', 3, 'a quoted field is not closed'],
    ['text after a closing quote', 'a,b\n"x"y,2\n3,4\n', 2, 'a quoted field continues after its closing quote'],
    ['a quote in an unquoted field', 'a,b\n1, "2"\n', 2, 'an unquoted field contains a quote'],
  ] as const) {
    it(`is reported with the line of the record, and keeps the records before it: ${claim}`, () => {
      assert.deepEqual(readCsv(text), { records: records([1, 'a', 'b']), fault: { line, reason } })
    })
  }
})
