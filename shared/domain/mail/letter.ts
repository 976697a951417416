import type { EventType } from '../events/event-types.ts'
import type { LinkSettings } from '../group-links/link-settings.ts'
import type { OrgChart } from '../tenant-index/rows/org-chart.ts'
import type { MailItem } from './mail-item.ts'

/** What one recipient is told of an event. */
export type Letter = { readonly to: Recipient; readonly item: MailItem }

/** Who is told of an event now, and what. `later`: that is not known until an evaluation has followed the core objects. */
export type Letters = readonly Letter[] | 'later'

export type Recipient =
  | { readonly kind: 'person'; readonly identityId: string }
  | { readonly kind: 'operator'; readonly address: string }

/** What is read once for several letters of a tenant. */
export type LetterContext = {
  readonly tenantId: string
  readonly settings: LinkSettings
  orgChart(): Promise<OrgChart>
}

/** The types of events that are told by mail. */
const MAILED_TYPES: ReadonlySet<string> = new Set<EventType>([
  'request.waiting',
  'request.reminder',
  'request.joined',
  'request.rejected',
  'request.cancelled',
  'request.ending',
  'link.failed',
  'link.paused',
  'removals.held',
  'connector.late',
  'subscription.disabled',
])

/** Whether anybody can be told of an event by mail. */
export function isMailed({ type }: { readonly type: string }): boolean {
  return MAILED_TYPES.has(type)
}
