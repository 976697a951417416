import { isGuid } from '../kernel/guid.ts'
import type { GraphCall } from './graph-calls.ts'

/** Adds all accounts or none. */
export function addCall(graphUrl: string, groupId: string, accounts: readonly string[]): GraphCall {
  const members = accounts.map((account) => objectUrl(graphUrl, account))
  return { method: 'PATCH', path: groupPath(groupId), body: { 'members@odata.bind': members } }
}

/** Adds one account, so that the reply refers to that account. */
export function addOneCall(graphUrl: string, groupId: string, account: string): GraphCall {
  const body = { '@odata.id': objectUrl(graphUrl, account) }
  return { method: 'POST', path: `${groupPath(groupId)}/members/$ref`, body }
}

/**
 * Removes an account from a group. No other function builds this path: without `/$ref`, the same call deletes the
 * account itself. https://learn.microsoft.com/graph/api/group-delete-members
 */
export function removeCall(groupId: string, account: string): GraphCall {
  const path = `${groupPath(groupId)}/members/${guid(account)}/$ref`
  if (!/^\/groups\/[0-9a-f-]{36}\/members\/[0-9a-f-]{36}\/\$ref$/.test(path)) {
    throw new Error(`The path ${path} does not end in /$ref.`)
  }
  return { method: 'DELETE', path }
}

/** The path of a group. @throws Error for an id that is not a GUID. */
export function groupPath(groupId: string): string {
  return `/groups/${guid(groupId)}`
}

function objectUrl(graphUrl: string, account: string): string {
  return `${graphUrl}/v1.0/directoryObjects/${guid(account)}`
}

/** Only a GUID becomes part of a path. */
function guid(id: string): string {
  if (!isGuid(id)) throw new Error(`${id} is not a directory object's id`)
  return id.toLowerCase()
}
