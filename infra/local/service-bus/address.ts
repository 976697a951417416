import { BusRefusal } from './refusal.ts'

/** The node that a link attaches to. Queue names are lower-case because they are case-insensitive in Azure. */
export type Address =
  | { readonly node: 'tokens' }
  | { readonly node: 'queue' | 'management'; readonly queue: string; readonly isDeadLetter: boolean }

/**
 * Parses `$cbs`, `queue`, `queue/$DeadLetterQueue` and either with `/$management`, also as `sb://host/queue` or with a
 * leading slash. @throws BusRefusal for anything else: subscriptions, transfer queues, transaction coordinators.
 */
export function parseAddress(text: string | undefined): Address {
  if (!text) throw new BusRefusal('amqp:not-implemented', 'Links without an address (transactions) are not supported.')
  const path = text.toLowerCase().replace(/^[a-z]+:\/\/[^/]*/, '')
  const parts = path.split('/').filter((part) => part !== '')
  if (parts.length === 1 && parts[0] === '$cbs') return { node: 'tokens' }
  const isManagement = parts.at(-1) === '$management'
  if (isManagement) parts.pop()
  const isDeadLetter = parts.at(-1) === '$deadletterqueue'
  if (isDeadLetter) parts.pop()
  if (parts.some((part) => part === 'subscriptions' || part.startsWith('$'))) {
    throw new BusRefusal(
      'amqp:not-implemented',
      `Only queues and their dead-letter queues are supported, not '${text}'.`,
    )
  }
  return { node: isManagement ? 'management' : 'queue', queue: parts.join('/'), isDeadLetter }
}
