import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { CommandError } from '../command.ts'

export const FILE_ENCODINGS = ['utf-8', 'windows-1252'] as const
export type FileEncoding = (typeof FILE_ENCODINGS)[number]

/** The encoding in which a file is read. */
export type RecognisedEncoding = { readonly encoding: FileEncoding; readonly hasByteOrderMark: boolean }

/** Whole lines of a file, with their line breaks. Lines are counted from 1. */
export type FileText = RecognisedEncoding & { readonly firstLine: number; readonly text: string }

/** The line breaks of all files. U+2028 is not one: JSON allows it within strings. */
export const LINE_BREAK = /\r\n|\n|\r/g

const LINE_FEED = 0x0a
const UTF_8_MARK = Buffer.from([0xef, 0xbb, 0xbf])
const UTF_16_MARKS = [Buffer.from([0xff, 0xfe]), Buffer.from([0xfe, 0xff])]

/**
 * Reads a file as a stream of texts. A byte order mark of UTF-8 is removed, and takes precedence over the encoding
 * (Encoding Standard, decode): one folder can contain files of both encodings.
 * @throws CommandError with the first line that is not valid UTF-8, or if the file has a byte order mark of UTF-16
 */
export async function* readFileText(file: string, encoding: FileEncoding): AsyncGenerator<FileText> {
  const windows1252 = new TextDecoder('windows-1252')
  let recognised: RecognisedEncoding | undefined
  let firstLine = 1
  for await (const bytes of wholeLines(file)) {
    const isFirst = recognised === undefined
    recognised ??= recognisedEncoding(file, bytes, encoding)
    const content = isFirst && recognised.hasByteOrderMark ? bytes.subarray(UTF_8_MARK.length) : bytes
    if (recognised.encoding === 'utf-8') assertUtf8(file, content, firstLine, recognised)
    const text = recognised.encoding === 'utf-8' ? content.toString('utf8') : windows1252.decode(content)
    yield { ...recognised, firstLine, text }
    firstLine += text.match(LINE_BREAK)?.length ?? 0
  }
}

/** Both encodings use the byte of the line feed for nothing else. */
async function* wholeLines(file: string): AsyncGenerator<Buffer> {
  let begun: Buffer[] = []
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    const end = chunk.lastIndexOf(LINE_FEED) + 1
    if (end > 0) {
      yield Buffer.concat([...begun, chunk.subarray(0, end)])
      begun = []
    }
    if (end < chunk.length) begun.push(chunk.subarray(end))
  }
  if (begun.length > 0) yield Buffer.concat(begun)
}

function recognisedEncoding(file: string, bytes: Buffer, encoding: FileEncoding): RecognisedEncoding {
  if (UTF_16_MARKS.some((mark) => startsWith(bytes, mark))) {
    throw new CommandError(`${file}:1: the file is encoded in UTF-16. Nothing was sent. Save the file as UTF-8`)
  }
  const hasByteOrderMark = startsWith(bytes, UTF_8_MARK)
  return { encoding: hasByteOrderMark ? 'utf-8' : encoding, hasByteOrderMark }
}

const startsWith = (bytes: Buffer, mark: Buffer): boolean => bytes.subarray(0, mark.length).equals(mark)

function assertUtf8(file: string, bytes: Buffer, firstLine: number, { hasByteOrderMark }: RecognisedEncoding): void {
  if (isUtf8(bytes)) return
  // In Latin-1 each byte is one character.
  const lines = bytes.toString('latin1').split(LINE_BREAK)
  const line = firstLine + lines.findIndex((text) => !isUtf8(Buffer.from(text, 'latin1')))
  const remedy = hasByteOrderMark
    ? 'The file has a byte order mark of UTF-8: save it as UTF-8 again'
    : 'If the file is encoded in Windows-1252, use --encoding windows-1252'
  throw new CommandError(`${file}:${line}: the line is not valid UTF-8. Nothing was sent. ${remedy}`)
}
