import type { Container, OperationInput, Resource } from '@azure/cosmos'
import { FORMER_LINK_KEPT_S, FormerLink, succeeding } from '../../domain/group-links/former-link.ts'
import type { GroupLink } from '../../domain/group-links/group-link.ts'
import { EMPTY_WINDOW } from '../../domain/group-links/removal-window.ts'
import type { AuditRecord } from '../../domain/history/audit.ts'
import type { RefusalCode } from '../../kernel/refusal-register.ts'
import { Refusal } from '../../kernel/refusals.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { auditOperations } from '../audit-trail.ts'
import { versionedDocumentParser } from '../document-parser.ts'
import { readDocument, versionsTogether, writeOf } from '../documents.ts'

const TAKEN = { 409: 'GroupAlreadyLinked' } as const

const formerParser = versionedDocumentParser('record of a former link', FormerLink)

/** A group that has had no link for a day. */
const NO_FORMER_LINK: FormerLink = { removalWindow: EMPTY_WINDOW, recentWrites: [], lease: null, lastToken: 0 }

/**
 * Writes a link or the settings of links and what belongs to them, with the audit record if there is one.
 * @returns The new version.
 */
export async function writeAudited(
  links: Container,
  operations: readonly OperationInput[],
  audit: AuditRecord | undefined,
  { tenantId }: { readonly tenantId: string },
  codes: Readonly<Record<number, RefusalCode>>,
): Promise<string> {
  const outcome = await versionsTogether(links, tenantId, [...operations, ...auditOperations(audit)])
  if ('versions' in outcome) return outcome.versions[0] ?? ''
  throw failedWrite(outcome.status, codes)
}

/** The refusal of a failed write, by its status. */
export function failedWrite(status: number, codes: Readonly<Record<number, RefusalCode>>): Error {
  const code = codes[status]
  return code === undefined ? new Error(`Writing a link failed with status ${status}`) : new Refusal(code)
}

/**
 * Creates a link and empties the record of the group's former link in one transaction. A link that was created and
 * deleted after the record was read makes the write of the record fail.
 * @throws Refusal `StaleVersion` then, `GroupAlreadyLinked`.
 */
export async function addSucceeding(
  links: Container,
  link: GroupLink,
  audit: AuditRecord | undefined,
  eventWrites: readonly OperationInput[],
): Promise<Versioned<GroupLink>> {
  const { id, ...emptied } = formerDocument(link, NO_FORMER_LINK)
  const document = await readDocument<FormerLink & Resource>(links, id, link.tenantId)
  const former = document === undefined ? undefined : formerParser.parse(document)
  const value = succeeding(link, former?.value)
  const outcome = await versionsTogether(links, link.tenantId, [
    writeOf(value, undefined),
    writeOf({ id, ...emptied }, former?.version),
    ...auditOperations(audit),
    ...eventWrites,
  ])
  if ('versions' in outcome) return { value, version: outcome.versions[0] ?? '' }
  throw outcome.index === 1 ? new Refusal('StaleVersion') : failedWrite(outcome.status, TAKEN)
}

/** The unique key of the container allows one document per tenant without a value, which is that of the settings. */
export function formerDocument({ tenantId, directoryGroupId: groupId }: GroupLink, former: FormerLink) {
  const id = `former:${groupId}`
  return { ...former, id, tenantId, directoryGroupId: id, ttl: FORMER_LINK_KEPT_S }
}
