import { isGuid } from '../kernel/guid.ts'
import type { GraphCall } from './graph-calls.ts'

/** Graph refuses more in one PATCH. https://learn.microsoft.com/graph/api/group-post-members */
export const MEMBERS_PER_PATCH_COUNT = 20

/** Adds all accounts or none. */
export function addCall(graphUrl: string, groupId: string, accounts: readonly string[]): GraphCall {
  return {
    method: 'PATCH',
    path: groupPath(groupId),
    body: { 'members@odata.bind': accounts.map((account) => objectUrl(graphUrl, account)) },
  }
}

/** Adds one account, with a verdict of its own. */
export function addOneCall(graphUrl: string, groupId: string, account: string): GraphCall {
  return {
    method: 'POST',
    path: `${groupPath(groupId)}/members/$ref`,
    body: { '@odata.id': objectUrl(graphUrl, account) },
  }
}

/**
 * Takes an account out of a group. The only place that builds this path: without its ending, the same call deletes the
 * account itself. https://learn.microsoft.com/graph/api/group-delete-members
 */
export function removeCall(groupId: string, account: string): GraphCall {
  const path = `${groupPath(groupId)}/members/${guid(account)}/$ref`
  if (!/^\/groups\/[0-9a-f-]{36}\/members\/[0-9a-f-]{36}\/\$ref$/.test(path)) {
    throw new Error(`${path} does not end in a reference`)
  }
  return { method: 'DELETE', path }
}

/** The path of a group. Only a GUID gets into it, whatever the data say. */
export function groupPath(groupId: string): string {
  return `/groups/${guid(groupId)}`
}

function objectUrl(graphUrl: string, account: string): string {
  return `${graphUrl}/v1.0/directoryObjects/${guid(account)}`
}

/** Nothing but an id becomes part of a path. */
function guid(id: string): string {
  if (!isGuid(id)) throw new Error(`${id} is not a directory object's id`)
  return id.toLowerCase()
}
