import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Connection } from 'rhea'
import { BusRefusal } from './refusal.ts'

/** The access key of the local namespace, part of its connection string. */
export const ACCESS_KEY = { name: 'local', key: 'local' } as const

const TOKEN_TYPE = 'servicebus.windows.net:sastoken'

/** Ends of the accepted tokens by path, for each connection. */
const accepted = new WeakMap<Connection, Map<string, number>>()

/**
 * Accepts the shared access signature of a connection for an entity and what lies below it.
 * The time of tokens is the client's, even where a test has a clock of its own for messages.
 * https://learn.microsoft.com/azure/service-bus-messaging/service-bus-sas
 * @throws BusRefusal `amqp:unauthorized-access` for another key, an expired token, or one of another entity
 */
export function acceptToken(
  connection: Connection,
  { token, type, audience }: { readonly token: unknown; readonly type: unknown; readonly audience: unknown },
): void {
  const [scheme, fields] = String(token).split(' ')
  if (type !== TOKEN_TYPE || scheme !== 'SharedAccessSignature') {
    throw unauthorized('MalformedToken: A shared access signature is required.')
  }
  const values = new URLSearchParams(fields)
  const [resource, expiry] = [values.get('sr') ?? '', values.get('se') ?? '']
  const expected = createHmac('sha256', ACCESS_KEY.key)
    .update(`${encodeURIComponent(resource)}\n${expiry}`)
    .digest()
  const signature = Buffer.from(values.get('sig') ?? '', 'base64')
  const isSigned = signature.length === expected.length && timingSafeEqual(signature, expected)
  if (values.get('skn') !== ACCESS_KEY.name || !isSigned) {
    throw unauthorized('InvalidSignature: The token has an invalid signature.')
  }
  const endsAtMs = Number(expiry) * 1000
  if (!(endsAtMs > Date.now())) throw unauthorized('ExpiredToken: The token has expired.')
  const path = pathOf(resource)
  if (!isWithin(pathOf(String(audience)), path)) {
    throw unauthorized(`InvalidAudience: The token is not valid for ${String(audience)}.`)
  }
  const tokens = accepted.get(connection) ?? new Map<string, number>()
  accepted.set(connection, tokens.set(path, endsAtMs))
}

/** @throws BusRefusal `amqp:unauthorized-access` when the connection has no valid token for the address */
export function requireToken(connection: Connection, address: string): void {
  const path = pathOf(address)
  for (const [granted, endsAtMs] of accepted.get(connection) ?? []) {
    if (endsAtMs > Date.now() && isWithin(path, granted)) return
  }
  throw unauthorized(`Unauthorized access. 'Send' or 'Listen' claim(s) are required for ${address}.`)
}

/** The path of an address without scheme and host, in lower case, as names of entities have no case. */
const pathOf = (address: string): string =>
  address
    .toLowerCase()
    .replace(/^[a-z]+:\/\/[^/]*/, '')
    .split('/')
    .filter((part) => part !== '')
    .join('/')

const isWithin = (path: string, parent: string): boolean =>
  parent === '' || path === parent || path.startsWith(`${parent}/`)

const unauthorized = (description: string): BusRefusal => new BusRefusal('amqp:unauthorized-access', description)
