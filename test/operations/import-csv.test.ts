import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type CsvFault, type CsvRecord, readCsv, recognisedDelimiter } from '../../infra/import/csv.ts'

const records = (...lines: [number, ...string[]][]): CsvRecord[] => lines.map(([line, ...fields]) => ({ line, fields }))

/** Reads the text whole, and once more in pieces of one character. */
async function read(text: string): Promise<(CsvRecord | CsvFault)[]> {
  const whole = await Array.fromAsync(readCsv([text], ','))
  assert.deepEqual(await Array.fromAsync(readCsv(text, ',')), whole)
  return whole
}

describe('reading CSV', () => {
  for (const [claim, text, expected] of [
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
    it(claim, async () => assert.deepEqual(await read(text), expected))
  }
})

describe('a quoting error in CSV', () => {
  for (const [claim, text, line, reason] of [
    ['a quote that is not closed', 'a,b\n\n1,"never\n\nclosed\n', 3, 'a quoted field is not closed'],
    ['text after a closing quote', 'a,b\n"x"y,2\n3,4\n', 2, 'a quoted field continues after its closing quote'],
    ['a quote in an unquoted field', 'a,b\n1, "2"\n', 2, 'an unquoted field contains a quote'],
  ] as const) {
    it(`is reported with the line of the record, and keeps the records before it: ${claim}`, async () => {
      assert.deepEqual(await read(text), [...records([1, 'a', 'b']), { line, reason }])
    })
  }
})

describe('the delimiter of CSV', () => {
  for (const [claim, text, expected] of [
    ['is a comma', 'externalId,displayName\n1;2,3\n', ','],
    ['is a semicolon', 'displayName;externalId\n1,2;3,4,5\n', ';'],
    ['is a tab', '\r\nexternalId\tdisplayName\r\n', '\t'],
    ['is not one within a quoted name', '"a;b;c;d",externalId\n', ','],
    ['is not one within a quoted name with a line break', '"a,\nb,c"; externalId ;"d\te"\n1;2;3', ';'],
    ['is not one within an unquoted name', 'externalId;a,b,c,d\n', ';'],
    ['is a comma for a header with one column', 'externalId\na;b\n', ','],
    ['is recognised although a later line is invalid', 'externalId;displayName\n1;"never closed\n', ';'],
    ['is the one with the most columns if the required column is missing', 'a,b;c;d\n', ';'],
    ['is a comma if no delimiter fits', '"a"b\n', ','],
  ] as const) {
    it(claim, () => assert.equal(recognisedDelimiter(text, ['externalId']), expected))
  }
})
