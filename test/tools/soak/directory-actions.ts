import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import type { Organisation } from './organisation.ts'
import { pickOf } from './picks.ts'

/** Changes a group in the directory by hand: the next sweep repairs a linked one. */
export async function editGroupByHand(organisation: Organisation, random: Random): Promise<void> {
  const { tenant, directoryUrl, callers, personCount } = organisation
  const groupId = pickOf(random, tenant.groupIds)
  const userId = pickOf(random, [...tenant.accounts.slice(0, personCount), ...tenant.strangers])
  const members = `${directoryUrl}/v1.0/groups/${groupId}/members`
  const headers = { authorization: `Bearer ${await callers.tester()}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ '@odata.id': `${directoryUrl}/v1.0/directoryObjects/${userId}` })
  const edit = random.percent(50)
    ? fetch(`${members}/$ref`, { method: 'POST', headers, body })
    : fetch(`${members}/${userId}/$ref`, { method: 'DELETE', headers })
  const response = await edit.catch(withoutAnswer)
  // Refused when the user already is a member, or is none; and by an injected fault.
  if (response !== undefined && ![204, 400, 404, 429, 503, 504].includes(response.status)) {
    throw new Error(`An edit by hand: ${response.status} ${await response.text()}`)
  }
}

/** An injected fault drops connections to the directory. The next sweep repairs the edit if it was applied. */
function withoutAnswer(error: unknown): undefined {
  if (!(error instanceof TypeError && error.message === 'fetch failed')) throw error
}

/** The user members of a group, as the directory answers them. */
export async function readGroup({ callers, directoryUrl }: Organisation, groupId: string): Promise<Set<string>> {
  const headers = { authorization: `Bearer ${await callers.tester()}` }
  const ids = new Set<string>()
  let url: string | undefined = `${directoryUrl}/v1.0/groups/${groupId}/members?$top=999&$select=id`
  while (url !== undefined) {
    const response: Response = await fetch(url, { headers })
    if (!response.ok) throw new Error(`Reading group ${groupId}: ${await response.text()}`)
    const page = (await response.json()) as { value: { id: string }[]; '@odata.nextLink'?: string }
    for (const { id } of page.value) ids.add(id)
    url = page['@odata.nextLink']
  }
  return ids
}
