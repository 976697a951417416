import { createHmac } from 'node:crypto'
import type { Connection } from 'rhea'
import { BusRefusal } from './refusal.ts'

/** The access key of the local namespace, part of its connection string. */
export const ACCESS_KEY = { name: 'local', key: 'local' } as const

const TOKEN_TYPE = 'servicebus.windows.net:sastoken'

/** When the accepted token of a connection ends. */
const accepted = new WeakMap<Connection, number>()

/**
 * Accepts a shared access signature of the namespace, or of one of its queues, for the whole connection.
 * The time of tokens is the client's, even where a test has a clock of its own for messages.
 * https://learn.microsoft.com/azure/service-bus-messaging/service-bus-sas
 * @throws BusRefusal `amqp:unauthorized-access` for another key or an expired token
 */
export function acceptToken(connection: Connection, token: unknown, type: unknown): void {
  const [scheme, fields] = String(token).split(' ')
  if (type !== TOKEN_TYPE || scheme !== 'SharedAccessSignature') {
    throw unauthorized('MalformedToken: A shared access signature is required.')
  }
  const values = new URLSearchParams(fields)
  const signed = `${encodeURIComponent(values.get('sr') ?? '')}\n${values.get('se')}`
  const expected = createHmac('sha256', ACCESS_KEY.key).update(signed).digest('base64')
  if (values.get('skn') !== ACCESS_KEY.name || values.get('sig') !== expected) {
    throw unauthorized('InvalidSignature: The token has an invalid signature.')
  }
  const endsAtMs = Number(values.get('se')) * 1000
  if (endsAtMs <= Date.now()) throw unauthorized('ExpiredToken: The token has expired.')
  accepted.set(connection, endsAtMs)
}

/** @throws BusRefusal `amqp:unauthorized-access` when the connection has no valid token */
export function requireToken(connection: Connection): void {
  if ((accepted.get(connection) ?? 0) > Date.now()) return
  throw unauthorized("Unauthorized access. 'Send' or 'Listen' claim(s) are required.")
}

const unauthorized = (description: string): BusRefusal => new BusRefusal('amqp:unauthorized-access', description)
