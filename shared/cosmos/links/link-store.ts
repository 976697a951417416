import type { Container, OperationInput, SqlQuerySpec } from '@azure/cosmos'
import { eventsOfLinkAction, eventsOfLinkChange, withPauseTold } from '../../domain/events/change-events.ts'
import type { EventDraft } from '../../domain/events/event-types.ts'
import { formerLinkOf } from '../../domain/group-links/former-link.ts'
import { GroupLink, NEVER_SYNCED } from '../../domain/group-links/group-link.ts'
import type { LinkFilter, LinkLists, LinkStore } from '../../domain/group-links/link-store.ts'
import { EMPTY_WINDOW } from '../../domain/group-links/removal-window.ts'
import { needsAttention, type SyncState, syncStateOf } from '../../domain/group-links/sync-state.ts'
import { chunk } from '../../kernel/chunk.ts'
import { filteredPage } from '../../kernel/filtered-page.ts'
import { type Page, retryOnConflict, type Versioned } from '../../kernel/versioned.ts'
import { auditOperations } from '../audit-trail.ts'
import { batchedDocumentReads, readDocuments } from '../batched-reads.ts'
import { compareCreation, matching, readPageByCreation } from '../creation-page.ts'
import { versionedDocumentParser } from '../document-parser.ts'
import {
  countDocuments,
  deletionOf,
  ifVersion,
  queryAll,
  refuse,
  type Stored,
  versionsTogether,
  writeOf,
} from '../documents.ts'
import { NO_OUTBOX, type Outbox } from '../events/outbox.ts'
import { SETTINGS_ID, settingsOf } from './link-settings-store.ts'
import { addSucceeding, failedWrite, formerDocument, writeAudited } from './link-writes.ts'

const NOT_CURRENT = { 412: 'StaleVersion', 404: 'LinkNotFound' } as const

const { parse, parseWritten } = versionedDocumentParser('group link', GroupLink, {
  ...{ createdBy: null, collectionKind: null },
  ...NEVER_SYNCED,
})

/** Members of a link that decide whether it needs attention. */
const DECIDING_MEMBERS = 'c.state, c.skippedCount, c.lastSyncOutcome, c.lastSyncError, c.heldRemovals'

/** Members that a state without need for attention depends on. */
const UNDECIDED = {
  ...{ state: 'Enabled', lastSyncOutcome: null, heldRemovals: null, appliedMembershipVersion: null },
  ...{ accountsChangedAtMs: null, lease: null, changesPending: false, removalsDeferred: false, isBehind: false },
  removalWindow: EMPTY_WINDOW,
} as const

/** Few enough for the index. */
const COLLECTIONS_PER_QUERY_COUNT = 1_000

const FILTERS = {
  collectionId: 'c.collectionId = @collectionId',
  directoryGroupId: 'c.directoryGroupId = @directoryGroupId',
  state: 'c.state = @state',
  lastSyncOutcome: 'c.lastSyncOutcome = @lastSyncOutcome',
  held: 'IS_DEFINED(c.heldRemovals.planId) = @held',
} as const satisfies Record<keyof StoredLinkFilter, string>

/** A sync state is decided from several members of the link. */
type StoredLinkFilter = Omit<LinkFilter, 'syncState' | 'needsAttention'>

/** What all links of a state have in common, so that few others are read. */
const STATE_CONDITIONS: Readonly<Record<SyncState, string>> = {
  Disabled: "c.state = 'Disabled'",
  RemovalsPaused: 'c.skippedCount > 0',
  RemovalsHeld: 'IS_DEFINED(c.heldRemovals.planId)',
  Failed: "c.lastSyncOutcome = 'Failed'",
  Pending: "c.state = 'Enabled'",
  InSync: "c.lastSyncOutcome = 'Succeeded'",
}
const { Failed, RemovalsHeld, RemovalsPaused } = STATE_CONDITIONS
const ATTENTION_CONDITION = `c.state = 'Enabled' AND (${Failed} OR ${RemovalsHeld} OR ${RemovalsPaused})`

/**
 * Container `links`: partition key `/tenantId`, unique key `/directoryGroupId`, which decides between concurrent
 * creates.
 */
export function cosmosLinkStore(
  links: Container,
  outbox: Outbox = NO_OUTBOX,
  nowMs: () => number = () => 0,
): LinkStore & LinkLists {
  const read = batchedDocumentReads<GroupLink>(links)
  /** A tenant has few links. Reading all of them costs one page. */
  async function inTenant(tenantId: string, query: SqlQuerySpec): Promise<Versioned<GroupLink>[]> {
    const found = await queryAll<unknown>(links, tenantId, query)
    return found.map(parse).sort((left, right) => compareCreation(left.value, right.value))
  }

  /** Writes a change together with its events. */
  async function writingEvents<T>(
    tenantId: string,
    events: readonly EventDraft[],
    write: (eventWrites: readonly OperationInput[]) => Promise<T>,
  ): Promise<T> {
    const eventWrites = await outbox.prepare(tenantId, events)
    const written = await write(eventWrites)
    await outbox.notify('links', tenantId, eventWrites)
    return written
  }

  return {
    async find(tenantId, linkId) {
      const document = await read(tenantId, linkId)
      return document === undefined ? undefined : parse(document)
    },
    async findWithSettings(tenantId, linkId) {
      const found = await readDocuments<object>(links, tenantId, [linkId, SETTINGS_ID])
      const document = found.get(linkId)
      return document && { ...parse(document), settings: settingsOf(found.get(SETTINGS_ID)).value }
    },
    ofCollection(tenantId, collectionId) {
      return inTenant(tenantId, {
        query: 'SELECT * FROM c WHERE c.collectionId = @collectionId',
        parameters: [{ name: '@collectionId', value: collectionId }],
      })
    },
    async attention(tenantId) {
      const query = `SELECT ${DECIDING_MEMBERS} FROM c WHERE IS_DEFINED(c.collectionId) AND ${ATTENTION_CONDITION}`
      const found = await queryAll<Partial<GroupLink>>(links, tenantId, { query })
      // The condition lets through links without `skippedCount`, of the version before.
      return found.map(({ skippedCount = null, ...link }) => ({
        syncState: syncStateOf({ ...UNDECIDED, ...link, skippedCount } as Parameters<typeof syncStateOf>[0]),
        isHeld: link.heldRemovals !== null && link.heldRemovals !== undefined,
      }))
    },
    async ofCollections(tenantId, collectionIds) {
      const query = 'SELECT * FROM c WHERE ARRAY_CONTAINS(@ids, c.collectionId)'
      const found = chunk(collectionIds, COLLECTIONS_PER_QUERY_COUNT).map((ids) =>
        inTenant(tenantId, { query, parameters: [{ name: '@ids', value: [...ids] }] }),
      )
      return (await Promise.all(found)).flat().map(({ value }) => value)
    },
    async ofGroup(tenantId, directoryGroupId) {
      const [link] = await inTenant(tenantId, {
        query: 'SELECT * FROM c WHERE c.directoryGroupId = @groupId',
        parameters: [{ name: '@groupId', value: directoryGroupId }],
      })
      return link
    },
    ofTenant(tenantId) {
      return inTenant(tenantId, { query: 'SELECT * FROM c WHERE IS_DEFINED(c.collectionId)' })
    },
    count: (tenantId) => countDocuments(links, tenantId, 'IS_DEFINED(c.collectionId)'),
    linkedCollectionIds(tenantId, collectionId) {
      const where = collectionId === undefined ? 'IS_DEFINED(c.collectionId)' : 'c.collectionId = @collectionId'
      const parameters = collectionId === undefined ? [] : [{ name: '@collectionId', value: collectionId }]
      return queryAll(links, tenantId, { query: `SELECT VALUE c.collectionId FROM c WHERE ${where}`, parameters })
    },
    async ofGroups(tenantId, directoryGroupIds) {
      if (directoryGroupIds.length === 0) return []
      const found = await inTenant(tenantId, {
        query: 'SELECT * FROM c WHERE ARRAY_CONTAINS(@groupIds, c.directoryGroupId)',
        parameters: [{ name: '@groupIds', value: [...directoryGroupIds] }],
      })
      return found.map(({ value }) => value)
    },
    async page(tenantId, filter, after, size) {
      const { syncState, needsAttention: isNeeded, ...stored } = filter
      const { conditions, parameters } = matching(stored, FILTERS)
      const ofState = syncState === undefined ? [] : [STATE_CONDITIONS[syncState]]
      const ofAttention = isNeeded === true ? [ATTENTION_CONDITION] : []
      const where = ['IS_DEFINED(c.collectionId)', ...conditions, ...ofState, ...ofAttention].join(' AND ')
      const read = async (from: string | undefined, count: number): Promise<Page<GroupLink>> => {
        const query = { where, parameters, newestFirst: false, after: from, size: count }
        const page = await readPageByCreation<Stored<GroupLink>>(links, tenantId, query)
        return { ...page, items: page.items.map((document) => parse(document).value) }
      }
      const passes = (link: GroupLink): boolean =>
        (syncState === undefined || syncStateOf(link) === syncState) &&
        (isNeeded === undefined || needsAttention(link) === isNeeded)
      return filteredPage(read, passes, after, size)
    },
    add: (link, audit) =>
      writingEvents(link.tenantId, eventsOfLinkAction(link, audit), (eventWrites) =>
        retryOnConflict(() => addSucceeding(links, link, audit, eventWrites)),
      ),
    replace(changed, version, audit, before) {
      const link = before === undefined ? changed : withPauseTold(changed)
      const changes = before === undefined ? [] : eventsOfLinkChange(before, link, nowMs())
      return writingEvents(link.tenantId, [...eventsOfLinkAction(link, audit), ...changes], async (eventWrites) => {
        if (audit === undefined && eventWrites.length === 0) {
          const item = links.item(link.id, link.tenantId)
          return parseWritten(await item.replace(link, ifVersion(version)).catch(refuse(NOT_CURRENT)))
        }
        const operations = [writeOf(link, version), ...eventWrites]
        return { value: link, version: await writeAudited(links, operations, audit, link, NOT_CURRENT) }
      })
    },
    remove(link, version, audit) {
      const left: OperationInput = { operationType: 'Upsert', resourceBody: formerDocument(link, formerLinkOf(link)) }
      return writingEvents(link.tenantId, eventsOfLinkAction(link, audit), async (eventWrites) => {
        const outcome = await versionsTogether(links, link.tenantId, [
          deletionOf(link.id, version),
          left,
          ...auditOperations(audit),
          ...eventWrites,
        ])
        if ('status' in outcome) throw failedWrite(outcome.status, NOT_CURRENT)
      })
    },
  }
}
