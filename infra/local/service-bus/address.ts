import { BusRefusal } from './refusal.ts'

/** What a link is attached to. Queue names are lower-case, as the cloud's are case-insensitive. */
export type Address =
  | { readonly node: 'tokens' }
  | { readonly node: 'queue' | 'management'; readonly queue: string; readonly isDeadLetter: boolean }

/**
 * Reads `$cbs`, `queue`, `queue/$DeadLetterQueue` and either with `/$management`, also as `sb://host/queue` or with a
 * leading slash. @throws BusRefusal for anything else: subscriptions, transfer queues, transaction coordinators.
 */
export function parseAddress(text: string | undefined): Address {
  if (!text) throw new BusRefusal('amqp:not-implemented', 'Links without an address (transactions) are not built.')
  const path = text.toLowerCase().replace(/^[a-z]+:\/\/[^/]*/, '')
  const parts = path.split('/').filter((part) => part !== '')
  if (parts.length === 1 && parts[0] === '$cbs') return { node: 'tokens' }
  const isManagement = parts.at(-1) === '$management'
  if (isManagement) parts.pop()
  const isDeadLetter = parts.at(-1) === '$deadletterqueue'
  if (isDeadLetter) parts.pop()
  if (parts.some((part) => part === 'subscriptions' || part.startsWith('$'))) {
    throw new BusRefusal('amqp:not-implemented', `Only queues and their dead-letter queues are built, not '${text}'.`)
  }
  return { node: isManagement ? 'management' : 'queue', queue: parts.join('/'), isDeadLetter }
}
