import { withPauseTold } from '../events/change-events.ts'
import type { StoredEvent } from '../events/event-types.ts'
import type { GroupLink } from '../group-links/group-link.ts'
import { hasFailed } from '../group-links/sync-state.ts'
import type { Letter, LetterContext } from './letter.ts'
import type { MailDependencies } from './mail-dependencies.ts'
import type { MailItem } from './mail-item.ts'

type Dependencies = Pick<MailDependencies, 'collections' | 'links' | 'connectors' | 'lateConnectors' | 'subscriptions'>

/**
 * What the operators of a tenant are told of an event. Nothing of a link, connector or subscription that was deleted, and
 * nothing of what is over: a mail can be sent hours after its event, which was stored together with what is read here.
 */
export async function operatorLetters(
  event: StoredEvent,
  { tenantId, settings }: LetterContext,
  deps: Dependencies,
): Promise<Letter[]> {
  if (settings.operators.length === 0) return []
  const item = await itemOf(tenantId, event, deps)
  if (item === undefined) return []
  return settings.operators.map((address) => ({ to: { kind: 'operator', address }, item }))
}

const LINK_KINDS = {
  'link.failed': 'LinkFailed',
  'link.paused': 'LinkPaused',
  'removals.held': 'RemovalsHeld',
} as const

/**
 * Whether what was told of a link goes on. Of a disabled link it does as far as is known: when the link is enabled, no
 * event tells of it again.
 */
const GOES_ON: Readonly<Record<keyof typeof LINK_KINDS, (link: GroupLink, data: StoredEvent['data']) => boolean>> = {
  'link.failed': hasFailed,
  'link.paused': (link) => withPauseTold(link).isPauseTold === true,
  // A rejected plan does not wait for a decision. Other removals are another plan, with an event of its own.
  'removals.held': ({ heldRemovals }, { planId }) => heldRemovals?.planId === planId && !heldRemovals?.rejectedAt,
}

async function itemOf(
  tenantId: string,
  { type, data }: StoredEvent,
  deps: Dependencies,
): Promise<MailItem | undefined> {
  switch (type) {
    case 'link.failed':
    case 'link.paused':
    case 'removals.held': {
      const link = (await deps.links.find(tenantId, String(data.linkId)))?.value
      if (link === undefined || !GOES_ON[type](link, data)) return undefined
      const collection = await deps.collections.find(tenantId, link.collectionId)
      const collectionName = collection?.value.name ?? link.collectionId
      const groupName = link.directoryGroupDisplayName ?? link.directoryGroupId
      return { kind: LINK_KINDS[type], collectionName, groupName, path: `/links/${link.id}` }
    }
    case 'connector.late': {
      const connectorId = String(data.connectorId)
      const connector = await deps.connectors.find(tenantId, connectorId)
      if (connector === undefined || !(await deps.lateConnectors.of(tenantId)).has(connectorId)) return undefined
      return { kind: 'ConnectorLate', connectorName: connector.value.name, path: `/connectors/${connectorId}` }
    }
    case 'subscription.disabled': {
      const { value } = await deps.subscriptions.read(tenantId)
      const subscription = value.find(({ id }) => id === data.subscriptionId)
      if (subscription === undefined || subscription.disabledReason !== data.reason) return undefined
      // The rest of an address can be a secret.
      const { host } = new URL(subscription.url)
      return { kind: 'SubscriptionDisabled', host, isGone: data.reason === 'Gone', path: '' }
    }
  }
  return undefined
}
