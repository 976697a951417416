import { isGuid } from '../kernel/guid.ts'
import { isMailAddress } from '../kernel/mail-address.ts'

/** A missing or invalid setting. The message names the setting and not its value, which can be a secret. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** @throws SettingsError when the setting is missing. */
export function required(value: string | undefined, name: string): string {
  if (value === undefined) throw new SettingsError(`${name} is required`)
  return value
}

/** Parses the setting if it is set. */
export function optional(
  value: string | undefined,
  name: string,
  parse: (value: string, name: string) => string,
): string | undefined {
  return value === undefined ? undefined : parse(value, name)
}

/** In lower case, as in tokens. */
export function guid(value: string, name: string): string {
  if (!isGuid(value)) throw new SettingsError(`${name} must be a GUID`)
  return value.toLowerCase()
}

/** The name of one scope. @throws SettingsError */
export function scope(value: string, name: string): string {
  if (!/^[\w.:/-]+$/.test(value)) throw new SettingsError(`${name} must be the name of one scope`)
  return value
}

/** Tenant ids in lower case, or `any`. @throws SettingsError */
export function tenants(value: string, name: string): ReadonlySet<string> | 'any' {
  if (value === 'any') return value
  const ids = value.split(',').map((id) => id.trim().toLowerCase())
  if (!ids.every(isGuid)) throw new SettingsError(`${name} must be any, or contain tenant ids only`)
  return new Set(ids)
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/

/** @throws SettingsError unless the value is base64. */
export function base64(value: string, name: string): string {
  if (!BASE64.test(value)) throw new SettingsError(`${name} must be base64`)
  return value
}

/** A connection string of Service Bus. @throws SettingsError */
export function connectionString(value: string, name: string): string {
  if (!/(^|;)\s*Endpoint=sb:\/\/[^;]+/i.test(value)) throw new SettingsError(`${name} must be a connection string`)
  return value
}

/** @throws SettingsError unless the value is a host name with a domain. */
export function hostName(value: string, name: string): string {
  if (!/^[\w-]+(\.[\w-]+)+$/.test(value)) throw new SettingsError(`${name} must be a host name`)
  return value
}

/** @throws SettingsError unless the value is a mail address. */
export function mailAddress(value: string, name: string): string {
  if (!isMailAddress(value)) throw new SettingsError(`${name} must be a mail address`)
  return value
}

/** Checks the scheme too: `host.example:443` parses as a URL with the scheme `host.example`. */
export function url(value: string, name: string): string {
  if (!URL.canParse(value) || !/^https?:\/\//i.test(value))
    throw new SettingsError(`${name} must be an HTTP or HTTPS URL`)
  return value.replace(/\/+$/, '')
}

/** @throws SettingsError unless the value is one of the allowed words. */
export function oneOf<T extends string>(allowed: readonly T[], value: string, name: string): T {
  const known = allowed.find((word) => word === value)
  if (known === undefined) throw new SettingsError(`${name} must be one of ${allowed.join(', ')}`)
  return known
}

/** @throws SettingsError unless the value is a whole number of at most nine digits. */
export function wholeNumber(value: string, name: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new SettingsError(`${name} must contain whole numbers only`)
  return Number(value)
}

/** At least 1, because 0 would disable the work. */
export function count(value: string, name: string): number {
  const number = wholeNumber(value, name)
  if (number === 0) throw new SettingsError(`${name} must be at least 1`)
  return number
}

/** Checks the instrumentation key, in lower case: the exporter throws for any other. */
export function monitorConnectionString(value: string | undefined, name: string): string | undefined {
  if (value !== undefined && !/(^|;)InstrumentationKey=[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(;|$)/.test(value)) {
    throw new SettingsError(`${name} must contain an InstrumentationKey`)
  }
  return value
}

/** A list of base64 keys, separated by commas. @throws SettingsError */
export function cursorKeys(value: string, name: string): readonly string[] {
  const all = value.split(',').map((key) => key.trim())
  if (!all.every((key) => BASE64.test(key) && Buffer.from(key, 'base64').byteLength >= 32)) {
    throw new SettingsError(`${name} must contain base64 keys of at least 32 bytes`)
  }
  return all
}
