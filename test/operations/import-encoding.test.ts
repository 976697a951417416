import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { type FileEncoding, readFileText } from '../../infra/import/file-text.ts'
import { readImportFile } from '../../infra/import/import-file.ts'
import { readImportOptions } from '../../infra/import/import-options.ts'
import { newDataFolder } from '../support/journeys/started-environment.ts'

/** Larger than several reads of a stream. */
const LINES_COUNT = 40_000
const WINDOWS_1252_NAME = Buffer.from('Bj\u00f6rn', 'latin1')
const MARK = '\uFEFF'

function fileOf(...parts: (string | Uint8Array)[]): string {
  const file = join(newDataFolder(), 'identities.csv')
  writeFileSync(file, Buffer.concat(parts.map((part) => Buffer.from(part as string))))
  return file
}

const lines = (count: number, lineBreak: string): string => `p,Zoë € 語 😀${lineBreak}`.repeat(count)

async function textOf(file: string, encoding: FileEncoding = 'utf-8'): Promise<string> {
  const texts = await Array.fromAsync(readFileText(file, encoding))
  return texts.map(({ text }) => text).join('')
}

const fault = (file: string, line: number, remedy: RegExp) => ({
  exitCode: 2,
  message: new RegExp(`^${file}:${line}: the line is not valid UTF-8\\. Nothing was sent\\. ${remedy.source}`),
})
const ANOTHER_ENCODING = /If the file is encoded in Windows-1252, use --encoding windows-1252$/

describe('a file in UTF-8', () => {
  for (const lineBreak of ['\n', '\r\n', '\r']) {
    it(`is read as it is, with lines that are ended by ${JSON.stringify(lineBreak)}`, async () => {
      const text = lines(LINES_COUNT, lineBreak)
      assert.ok((await textOf(fileOf(text))) === text)
    })

    it(`stops at the first line with another encoding, with lines that are ended by ${JSON.stringify(lineBreak)}`, async () => {
      const [before, after] = [lines(LINES_COUNT - 1, lineBreak), lines(10, lineBreak)]
      const file = fileOf(before, 'x,', WINDOWS_1252_NAME, lineBreak, after, 'x,', WINDOWS_1252_NAME)
      await assert.rejects(textOf(file), fault(file, LINES_COUNT, ANOTHER_ENCODING))
    })
  }

  it('stops at a last line that ends within a character', async () => {
    const file = fileOf('a\n\n', Buffer.from('ö').subarray(0, 1))
    await assert.rejects(textOf(file), fault(file, 3, ANOTHER_ENCODING))
  })

  it('can begin with a byte order mark, also with another encoding in the options', async () => {
    const file = fileOf(MARK, 'ö\n', MARK)
    for (const encoding of ['utf-8', 'windows-1252'] as const) assert.equal(await textOf(file, encoding), `ö\n${MARK}`)
  })

  it('stops with another remedy if a file with a byte order mark contains another encoding', async () => {
    const file = fileOf(MARK, 'a\n', WINDOWS_1252_NAME)
    await assert.rejects(textOf(file, 'windows-1252'), fault(file, 2, /The file has a byte order mark/))
  })

  it('can contain the replacement character and line separators of Unicode', async () => {
    assert.equal(await textOf(fileOf('\uFFFD\u2028\u2029')), '\uFFFD\u2028\u2029')
  })
})

describe('a file in another encoding', () => {
  it('is read in Windows-1252 on request', async () => {
    const file = fileOf(WINDOWS_1252_NAME, Uint8Array.of(0x80, 0x0a, 0x8a, 0x9f, 0xff))
    assert.equal(await textOf(file, 'windows-1252'), 'Björn€\nŠŸÿ')
  })

  for (const mark of [
    [0xff, 0xfe],
    [0xfe, 0xff],
  ]) {
    it(`is refused in UTF-16, with the byte order mark ${mark}`, async () => {
      const file = fileOf(Uint8Array.from(mark), Uint8Array.of(0x61, 0))
      const error = { message: `${file}:1: the file is encoded in UTF-16. Nothing was sent. Save the file as UTF-8` }
      for (const encoding of ['utf-8', 'windows-1252'] as const) await assert.rejects(textOf(file, encoding), error)
    })
  }
})

describe('the format of a file', () => {
  for (const [claim, name, text, expected] of [
    ['of CSV is encoding and delimiter', 'identities.csv', 'externalId;displayName\na;A\n', [false, ';']],
    ['names a byte order mark', 'identities.csv', `${MARK}externalId\ta,b,c\na\tA\n`, [true, '\t']],
    ['of JSON lines has no delimiter', 'identities.jsonl', `${MARK}{"externalId":"a","data":{}}`, [true, undefined]],
    ['of an empty file has no delimiter', 'identities.csv', '', [false, undefined]],
  ] as const) {
    it(claim, async () => {
      const file = join(newDataFolder(), name)
      writeFileSync(file, text)
      const formats: unknown[] = []
      for await (const entry of readImportFile(file, 'utf-8', ({ hasByteOrderMark, delimiter }) =>
        formats.push([hasByteOrderMark, delimiter]),
      )) {
        assert.equal('externalId' in entry && entry.externalId, 'a')
      }
      assert.deepEqual(formats, [expected])
    })
  }

  it('separates JSON lines at line breaks only, and counts them', async () => {
    const file = join(newDataFolder(), 'identities.jsonl')
    const text = '{"externalId":"a","data":{"displayName":"A\u2028B"}}'
    writeFileSync(file, `${text}\r\n\n${text}\r${text}\n`.repeat(2000))
    const entries = await Array.fromAsync(readImportFile(file, 'utf-8', () => {}))
    assert.deepEqual(
      entries.slice(-3).map((entry) => [entry.line, 'data' in entry && entry.data]),
      [7997, 7999, 8000].map((line) => [line, { displayName: 'A\u2028B' }]),
    )
  })
})

describe('the option for the encoding', () => {
  const encodingOf = (...words: string[]) => {
    const options = readImportOptions(['folder', '--connector', 'c', '--token', 't', ...words], {})
    return options === 'help' ? options : options.encoding
  }

  for (const [words, expected] of [
    [[], 'utf-8'],
    [['--encoding', 'utf-8'], 'utf-8'],
    [['--encoding', 'Windows-1252'], 'windows-1252'],
  ] as const) {
    it(`is ${expected} for ${JSON.stringify(words)}`, () => assert.equal(encodingOf(...words), expected))
  }

  it('must have a known value', () => {
    const message = '--encoding must be utf-8 or windows-1252, not latin1'
    assert.throws(() => encodingOf('--encoding', 'latin1'), { message, exitCode: 2 })
    assert.throws(() => encodingOf('--encoding', ''), { exitCode: 2 })
  })
})
