import { createHash, randomUUID } from 'node:crypto'
import { pipeline, Readable, type Transform } from 'node:stream'
import { constants, createBrotliCompress, createBrotliDecompress } from 'node:zlib'
import type { Container } from '@azure/cosmos'
import { type Static, Type } from 'typebox'
import type { KeptDeletions } from '../../domain/tenant-index/row-settings.ts'
import { ROW_BLOCKS_FORMAT } from '../../domain/tenant-index/saved/row-blocks.ts'
import { type RowsToSave, type SavedRowsStore, UnusableRows } from '../../domain/tenant-index/saved/saved-rows.ts'
import { forEachConcurrent } from '../../kernel/concurrency.ts'
import { documentParser } from '../document-parser.ts'
import { createUnlessExists, readDocument, savedVersion } from '../documents.ts'

const HOUR_S = 60 * 60

const DAY_S = 24 * HOUR_S

/** The weekly evaluation of a tenant that is not in use finds them. */
const MAX_KEPT_DAYS = 8

/** Seconds for which chunks are kept. */
const chunkKeptS = ({ keptDays }: KeptDeletions): number => Math.min(keptDays, MAX_KEPT_DAYS) * DAY_S

/**
 * A head expires before its chunks, and before the first deletion that its rows miss: they are complete up to a time of at
 * most `WRITTEN_WITHIN_MS` and the difference of two clocks before the head is written.
 */
const headKeptS = (deletions: KeptDeletions): number => chunkKeptS(deletions) - 2 * HOUR_S

/** One instance writes at a time, and rows are written at most once in this time. */
const CLAIM_KEPT_S = 15 * 60
const WRITTEN_WITHIN_MS = 10 * 60_000
/** Rows that are complete only up to a longer time before their head was written are not used. */
const COMPLETE_WITHIN_S = HOUR_S

/** A document with a chunk has almost 64 KB: per byte, point reads of larger documents cost more. */
const CHUNK_BYTES = 48_600
const READS_AT_ONCE_COUNT = 8
/** As long as most lines, which are put together from these pieces. */
const DECOMPRESSED_BYTES = 256 * 1024

/** Level 9 takes a tenth of the time, and 6 % more bytes with each load. */
const COMPRESSION = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 10, [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT },
}

export const SAVED_ROWS_ID = 'rows'
const CLAIM_ID = 'rows-claim'

const RowsHead = Type.Object({
  format: Type.Integer(),
  completeUntilS: Type.Integer(),
  objectCount: Type.Integer(),
  /** Absent for a tenant whose custom attributes are all strings. */
  types: Type.Optional(Type.String()),
  /** Absent when a former release has saved the rows. */
  connectors: Type.Optional(Type.String()),
  /** Chunks have the generation and their number as id. */
  generation: Type.String(),
  chunkCount: Type.Integer(),
  /** Of the SHA-256 digests of all chunks, in base64. */
  checksum: Type.String(),
})
type RowsHead = Readonly<Static<typeof RowsHead>>

const parseHead = documentParser('head of saved rows', RowsHead)

/**
 * Container `members`, partition key `/membersOf`: `tenantId:rows` for the rows of a tenant. A head names the chunks of
 * the compressed rows. Each writing makes new chunks, then replaces the head. The former chunks expire.
 * @param elapsedMs A monotonic clock.
 */
export function cosmosSavedRowsStore(members: Container, elapsedMs: () => number): SavedRowsStore {
  return {
    async find(tenantId) {
      const partition = savedRowsPartition(tenantId)
      const document = await readDocument<RowsHead>(members, SAVED_ROWS_ID, partition)
      if (document === undefined) return undefined
      const { format, completeUntilS, objectCount, types = '', connectors } = document
      const isUsable = format === ROW_BLOCKS_FORMAT && document._ts - completeUntilS < COMPLETE_WITHIN_S
      const blocks = () => blocksOf(members, partition, document)
      const rows = { completeUntilS, objectCount, types, connectors, blocks }
      return { version: document._etag, rows: isUsable ? rows : undefined }
    },
    async claim(tenantId) {
      const membersOf = savedRowsPartition(tenantId)
      const untilMs = elapsedMs() + WRITTEN_WITHIN_MS
      const created = await createUnlessExists(members, { id: CLAIM_ID, membersOf, ttl: CLAIM_KEPT_S })
      if (created === undefined) return undefined
      const isInTime = () => elapsedMs() < untilMs
      return {
        claimedAtS: created._ts,
        async replace(rows, version) {
          const chunks = await writeChunks(members, membersOf, rows, isInTime)
          const head = { ...headOf(rows), ttl: headKeptS(rows.deletions) }
          return (
            chunks && savedVersion(members, membersOf, { ...head, ...chunks, id: SAVED_ROWS_ID, membersOf }, version)
          )
        },
      }
    },
  }
}

const headOf = ({ completeUntilS, objectCount, types, deletions: { connectors } }: RowsToSave) => ({
  format: ROW_BLOCKS_FORMAT,
  completeUntilS,
  objectCount,
  connectors,
  ...(types !== '' && { types }),
})

/** Undefined when it is too late to go on. */
async function writeChunks(
  members: Container,
  membersOf: string,
  rows: RowsToSave,
  isInTime: () => boolean,
): Promise<Pick<RowsHead, 'generation' | 'chunkCount' | 'checksum'> | undefined> {
  const generation = randomUUID()
  const digests: Buffer[] = []
  for await (const bytes of chunksOf(compressed(rows.blocks()))) {
    if (!isInTime()) return undefined
    const chunk = { id: `${generation}:${digests.length}`, membersOf, packedRows: bytes.toString('base64') }
    await members.items.create({ ...chunk, ttl: chunkKeptS(rows.deletions) })
    digests.push(digestOf(bytes))
  }
  return isInTime() ? { generation, chunkCount: digests.length, checksum: checksumOf(digests) } : undefined
}

export const savedRowsPartition = (tenantId: string): string => `${tenantId}:rows`

/** The lines of the rows. @throws UnusableRows */
async function* blocksOf(members: Container, partition: string, document: object): AsyncGenerator<string> {
  const chunks = await readChunks(members, partition, document)
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const bytes of through(
      Readable.from(chunks),
      createBrotliDecompress({ chunkSize: DECOMPRESSED_BYTES }),
    )) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      yield* lines
    }
  } catch (cause) {
    throw new UnusableRows('Saved rows cannot be decompressed', { cause })
  }
}

async function readChunks(members: Container, partition: string, document: object): Promise<Buffer[]> {
  const { generation, chunkCount, checksum } = usableHead(document)
  const chunks: Buffer[] = []
  await forEachConcurrent(Array.from({ length: chunkCount }).keys(), READS_AT_ONCE_COUNT, async (index) => {
    const chunk = await readDocument<{ packedRows?: unknown }>(members, `${generation}:${index}`, partition)
    if (typeof chunk?.packedRows !== 'string') throw new UnusableRows(`Chunk ${index} of the saved rows is missing`)
    chunks[index] = Buffer.from(chunk.packedRows, 'base64')
  })
  if (checksumOf(chunks.map(digestOf)) !== checksum) throw new UnusableRows('The checksum of the saved rows is wrong')
  return chunks
}

function usableHead(document: object): RowsHead {
  try {
    return parseHead(document)
  } catch (cause) {
    throw new UnusableRows('The head of the saved rows is invalid', { cause })
  }
}

const digestOf = (bytes: Buffer): Buffer => createHash('sha256').update(bytes).digest()

const checksumOf = (digests: readonly Buffer[]): string => digestOf(Buffer.concat(digests)).toString('base64')

/** Compresses lines outside of the thread. */
function compressed(blocks: AsyncIterable<string>): AsyncIterable<Buffer> {
  async function* lines() {
    for await (const block of blocks) yield Buffer.from(`${block}\n`)
  }
  return through(Readable.from(lines()), createBrotliCompress(COMPRESSION))
}

/** The output of a transformation. Ends with the fault of either stream. */
function through(source: Readable, transformation: Transform): AsyncIterable<Buffer> {
  return pipeline(source, transformation, () => undefined)
}

/** The same bytes in buffers of the size of a chunk. */
async function* chunksOf(stream: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let buffered: Buffer[] = []
  let count = 0
  for await (const bytes of stream) {
    buffered.push(bytes)
    count += bytes.length
    if (count < CHUNK_BYTES) continue
    const all = Buffer.concat(buffered)
    let at = 0
    for (; at + CHUNK_BYTES <= all.length; at += CHUNK_BYTES) yield all.subarray(at, at + CHUNK_BYTES)
    buffered = [all.subarray(at)]
    count = all.length - at
  }
  if (count > 0) yield Buffer.concat(buffered)
}
