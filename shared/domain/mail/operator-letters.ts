import type { StoredEvent } from '../events/event-types.ts'
import type { Letter, LetterContext } from './letter.ts'
import type { MailDependencies } from './mail-dependencies.ts'
import type { MailItem } from './mail-item.ts'

type Dependencies = Pick<MailDependencies, 'collections' | 'links' | 'connectors' | 'subscriptions'>

/** What the operators of a tenant are told of an event. Nothing of a link, connector or subscription that was deleted. */
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
      if (link === undefined) return undefined
      const collection = await deps.collections.find(tenantId, link.collectionId)
      const collectionName = collection?.value.name ?? link.collectionId
      const groupName = link.directoryGroupDisplayName ?? link.directoryGroupId
      return { kind: LINK_KINDS[type], collectionName, groupName, path: `/links/${link.id}` }
    }
    case 'connector.late': {
      const connector = await deps.connectors.find(tenantId, String(data.connectorId))
      if (connector === undefined) return undefined
      return { kind: 'ConnectorLate', connectorName: connector.value.name, path: `/connectors/${data.connectorId}` }
    }
    case 'subscription.disabled': {
      const { value } = await deps.subscriptions.read(tenantId)
      const subscription = value.find(({ id }) => id === data.subscriptionId)
      if (subscription === undefined) return undefined
      // The rest of an address can be a secret.
      const { host } = new URL(subscription.url)
      return { kind: 'SubscriptionDisabled', host, isGone: data.reason === 'Gone', path: '' }
    }
  }
  return undefined
}
