import { createHash } from 'node:crypto'
import type { Container } from '@azure/cosmos'
import { LRUCache } from 'lru-cache'
import type { MembershipChange } from '../../domain/collections/membership-store.ts'
import { withVerdicts } from '../../domain/evaluation/members-now.ts'
import type { CooperativeScheduler, Task } from '../../kernel/cooperative-scheduler.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { CHANGE_TYPE, parseChange } from '../change-document.ts'
import { documentParser } from '../document-parser.ts'
import { queryAll, sqlParameters } from '../documents.ts'
import { historySince } from './followed-changes.ts'
import { MembersChunk, type MembersHead } from './membership-plan.ts'

/** Takes 1 µs for a chunk of 400 ids, which takes 90 µs to read as JSON. */
const parseChunk = documentParser('chunk of members', MembersChunk)

/** Changes that are applied to known ids. When there are more, the chunks are read. */
const MAX_CHANGES_COUNT = 100

/** The ids of all memberships in the cache: about 40 MB. */
const CACHED_IDS_COUNT = 500_000

/** Heads as last read or written, with `IDS_PER_HEAD_COUNT` ids each: about 10 MB. */
const CACHED_HEADS_COUNT = 20_000
const IDS_PER_HEAD_COUNT = 10

/** The ids of a membership as of a head. */
type CachedMembers = Pick<MembersHead, 'membershipVersion' | 'digest'> & { readonly ids: readonly string[] }

/**
 * Reads the ids of memberships. A membership that this process has read or written before is brought up to date with
 * its changes, so that a read costs as much as the changes. Every result is checked against the digest of its head.
 */
export class StoredMembers {
  readonly #members: Container
  readonly #scheduler: CooperativeScheduler
  readonly #cache = new LRUCache<string, CachedMembers>({
    maxSize: CACHED_IDS_COUNT,
    // An empty membership takes space as well.
    sizeCalculation: ({ ids }) => ids.length + 1,
  })

  readonly #heads = new LRUCache<string, Versioned<MembersHead>>({
    maxSize: CACHED_HEADS_COUNT,
    sizeCalculation: ({ value: { ids = [] } }) => 1 + Math.floor(ids.length / IDS_PER_HEAD_COUNT),
  })

  constructor(members: Container, scheduler: CooperativeScheduler) {
    this.#members = members
    this.#scheduler = scheduler
  }

  /**
   * The ids as of the head, ascending. Undefined when the stored chunks do not match the head: then the head has
   * changed since it was read.
   */
  async ids(partition: string, head: MembersHead): Promise<readonly string[] | undefined> {
    const cached = this.#cache.get(partition)
    if (cached?.digest === head.digest) return cached.ids
    const ids =
      head.ids ??
      (cached && (await this.#idsAfter(partition, cached.ids, cached.membershipVersion, head))) ??
      (await this.#idsOfChunks(partition, head))
    if (ids !== undefined) this.keep(partition, head, ids)
    return ids
  }

  /** Keeps the ids of a head that this process has read or written. */
  keep(partition: string, { membershipVersion, digest }: MembersHead, ids: readonly string[]): void {
    this.#cache.set(partition, { membershipVersion, digest, ids })
  }

  /** Keeps a head that this process has read or written. */
  keepHead(partition: string, head: Versioned<MembersHead>): void {
    this.#heads.set(partition, head)
  }

  /** The head of this version, if this process has kept it. */
  headOf(partition: string, version: string): Versioned<MembersHead> | undefined {
    const head = this.#heads.get(partition)
    return head?.version === version ? head : undefined
  }

  drop(partition: string): void {
    this.#cache.delete(partition)
    this.#heads.delete(partition)
  }

  /**
   * The candidates that are members. Reads only the chunks that may contain them. They are not checked: the result holds
   * only when the generation of the head is still the current one afterwards. Undefined when changes are missing.
   */
  async idsAmong(
    partition: string,
    head: MembersHead,
    candidates: readonly string[],
  ): Promise<ReadonlySet<string> | undefined> {
    const prefixes = [...new Set(candidates.map((id) => id.slice(0, head.prefixLength)))]
    const wanted = new Set(candidates)
    const found = (await this.storedIds(partition, head, prefixes)).filter((id) => wanted.has(id))
    const later = await this.#changesBeyondChunks(partition, head)
    return later && new Set(withChanges(found, later)).intersection(wanted)
  }

  /**
   * The ids that are stored for a head, ascending. They are not checked, and lack changes that chunks do not have yet.
   */
  async storedIds(
    partition: string,
    { generation, ids }: MembersHead,
    prefixes?: readonly string[],
  ): Promise<readonly string[]> {
    if (ids !== undefined) return ids
    const ofPrefixes = prefixes === undefined ? '' : ' AND ARRAY_CONTAINS(@prefixes, c.prefix)'
    const query = `SELECT * FROM c WHERE c.type = 'chunk' AND c.generation = @generation${ofPrefixes}`
    const parameters = [
      { name: '@generation', value: generation },
      ...(prefixes === undefined ? [] : [{ name: '@prefixes', value: [...prefixes] }]),
    ]
    const chunks = (await queryAll<object>(this.#members, partition, { query, parameters })).map(parseChunk)
    // Ascending: chunks in the order of their prefixes, each ascending in itself.
    return chunks.toSorted((left, right) => (left.prefix < right.prefix ? -1 : 1)).flatMap(({ ids }) => ids)
  }

  async #idsOfChunks(partition: string, head: MembersHead): Promise<readonly string[] | undefined> {
    const ids = await this.storedIds(partition, head)
    const later = await this.#changesBeyondChunks(partition, head)
    return later && this.#checked(withChanges(ids, later), head)
  }

  async #changesBeyondChunks(partition: string, head: MembersHead): Promise<readonly MembershipChange[] | undefined> {
    const { chunksCompleteTo } = head
    return chunksCompleteTo === undefined ? [] : this.#changesUpTo(partition, chunksCompleteTo, head)
  }

  /** In order; undefined when not all of them are stored with their ids. */
  async #changesUpTo(
    partition: string,
    version: number,
    { membershipVersion }: MembersHead,
  ): Promise<readonly MembershipChange[] | undefined> {
    const query =
      'SELECT * FROM c WHERE c.type = @type AND c.membershipVersion > @from AND c.membershipVersion <= @until'
    const parameters = sqlParameters({ type: CHANGE_TYPE, from: version, until: membershipVersion })
    const changes = (await queryAll<object>(this.#members, partition, { query, parameters })).map(parseChange)
    return historySince(version, membershipVersion, changes)
  }

  async #idsAfter(
    partition: string,
    ids: readonly string[],
    version: number,
    head: MembersHead,
  ): Promise<readonly string[] | undefined> {
    const changeCount = head.membershipVersion - version
    if (changeCount < 0 || changeCount > MAX_CHANGES_COUNT) return undefined
    const changes = await this.#changesUpTo(partition, version, head)
    return changes && this.#checked(withChanges(ids, changes), head)
  }

  async #checked(ids: readonly string[], { count, digest }: MembersHead): Promise<readonly string[] | undefined> {
    return ids.length === count && (await this.#scheduler.run(digestTask(ids))) === digest ? ids : undefined
  }
}

/** The ascending ids after these changes, ascending as well. Changes that the ids contain already have no effect. */
function withChanges(ids: readonly string[], changes: readonly MembershipChange[]): readonly string[] {
  const isMember = new Map<string, boolean>()
  for (const { added, removed } of changes) {
    for (const id of removed) isMember.set(id, false)
    for (const id of added) isMember.set(id, true)
  }
  return withVerdicts(ids, isMember) ?? ids
}

export function chunksMismatch(partition: string): Error {
  return new Error(`The chunks of ${partition} do not match their head`)
}

/** Ids digested in one step of the task. */
const IDS_PER_STEP_COUNT = 8192

/** The digest of the ids, one per line. */
export function* digestTask(ids: readonly string[]): Task<string> {
  const digest = createHash('sha256')
  for (let from = 0; from < ids.length; from += IDS_PER_STEP_COUNT) {
    if (from > 0) digest.update('\n')
    digest.update(ids.slice(from, from + IDS_PER_STEP_COUNT).join('\n'))
    yield
  }
  return digest.digest('base64')
}
