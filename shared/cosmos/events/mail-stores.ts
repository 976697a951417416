import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import { StoredEvent } from '../../domain/events/event-types.ts'
import type { MailboxStore, NoticeStore } from '../../domain/mail/mail-dependencies.ts'
import { Mailbox } from '../../domain/mail/mailbox.ts'
import { forEachConcurrent } from '../../kernel/concurrency.ts'
import { SECONDS_PER_DAY } from '../change-document.ts'
import { versionedDocumentParser } from '../document-parser.ts'
import {
  createUnlessExists,
  deleteUnlessGone,
  queryAll,
  queryPartitions,
  readDocument,
  savedVersion,
  sqlParameters,
} from '../documents.ts'

/** Begins again with each claim: a notice expires where mails are not sent any more, and is given up elsewhere. */
const NOTICES_KEPT_S = 7 * SECONDS_PER_DAY
/** Much longer than an event can come again. A mailbox with a preference is kept. */
const MAILBOXES_KEPT_S = 40 * SECONDS_PER_DAY
const NOTICES_PER_READ_COUNT = 50
const WRITES_AT_ONCE_COUNT = 4

const notices = versionedDocumentParser('notice', Type.Object({ id: Type.String(), notice: StoredEvent }))
const mailboxes = versionedDocumentParser('mailbox', Type.Object({ mailbox: Mailbox }))

const noticeId = (eventId: string): string => `notice:${eventId}`
const mailboxId = (key: string): string => `mailbox:${key}`

/** Container `events`, partition key `/tenantId`. `noticeDueAtMs`: from when on anybody may handle it. */
export function cosmosNoticeStore(events: Container): NoticeStore {
  const documentOf = (tenantId: string, event: StoredEvent, dueAtMs: number) => ({
    ...{ id: noticeId(event.id), tenantId, notice: event, noticeDueAtMs: dueAtMs },
    ttl: NOTICES_KEPT_S,
  })
  return {
    async add(tenantId, added) {
      await forEachConcurrent(added, WRITES_AT_ONCE_COUNT, async (event) => {
        await createUnlessExists(events, documentOf(tenantId, event, 0))
      })
    },
    async due(tenantId, nowMs) {
      const query = `SELECT TOP ${NOTICES_PER_READ_COUNT} * FROM c WHERE c.noticeDueAtMs <= @nowMs ORDER BY c.noticeDueAtMs`
      const found = await queryAll<unknown>(events, tenantId, { query, parameters: sqlParameters({ nowMs }) })
      return found
        .map(notices.parse)
        .map(({ value, version }) => ({ value: value.notice, version }))
        .sort(({ value: left }, { value: right }) => (left.time < right.time ? -1 : Number(left.time > right.time)))
    },
    claim: (tenantId, { value, version }, untilMs) =>
      savedVersion(events, tenantId, documentOf(tenantId, value, untilMs), version),
    remove: (tenantId, eventId) => deleteUnlessGone(events, noticeId(eventId), tenantId),
  }
}

/** Container `events`. */
export function cosmosMailboxStore(events: Container): MailboxStore {
  return {
    async find(tenantId, key) {
      const document = await readDocument<object & { id: string }>(events, mailboxId(key), tenantId)
      if (document === undefined) return undefined
      const { value, version } = mailboxes.parse(document)
      return { value: value.mailbox, version }
    },
    save(tenantId, mailbox, version) {
      const { key, mail, digestAtMs } = mailbox
      const document = {
        ...{ id: mailboxId(key), tenantId, mailbox },
        ...(digestAtMs === undefined ? {} : { digestDueAtMs: digestAtMs }),
        ...(mail === 'Immediately' ? { ttl: MAILBOXES_KEPT_S } : {}),
      }
      return savedVersion(events, tenantId, document, version)
    },
    async due(tenantId, nowMs) {
      const query = 'SELECT * FROM c WHERE c.digestDueAtMs <= @nowMs'
      const found = await queryAll<unknown>(events, tenantId, { query, parameters: sqlParameters({ nowMs }) })
      return found.map(mailboxes.parse).map(({ value, version }) => ({ value: value.mailbox, version }))
    },
    async tenantsBehind(beforeMs) {
      const query = 'SELECT VALUE c.tenantId FROM c WHERE c.noticeDueAtMs <= @beforeMs OR c.digestDueAtMs <= @beforeMs'
      return new Set(await queryPartitions<string>(events, { query, parameters: sqlParameters({ beforeMs }) }))
    },
  }
}
