import { setTimeout as sleep } from 'node:timers/promises'
import type { DemoAnswer } from '../directory/seed.ts'
import { accessToken, apiCaller, type Call } from './api-caller.ts'

const GRAPH_SCOPE = 'https://graph.microsoft.com/.default'
const POLL_EVERY_MS = 200
const TIMEOUT_MS = 60_000

/** Positions with a title that contains Teacher, of people who have an account in the directory. */
const TEACHERS = {
  groupOperator: 'AND',
  conditions: [
    { id: 'relationshipTitle', field: 'relationshipTitle', operator: 'Contains', value: 'Teacher' },
    {
      groupOperator: 'NOT',
      conditions: [{ id: 'identityDirectoryObjectId', field: 'identityDirectoryObjectId', operator: 'IsNull' }],
    },
  ],
}

type Say = (line: string) => void

/**
 * Runs the main use case through the API of a started environment and says each step. It creates a collection of all
 * teachers and links it to an empty directory group. The sync job adds their accounts to the group.
 * @returns The address of the link in the console.
 * @throws Error with the reason when a step fails or takes too long.
 */
export async function showMainUseCase(directoryUrl: string, say: Say): Promise<string> {
  const demo = (await (await fetch(`${directoryUrl}/local/demo`)).json()) as DemoAnswer
  const tenant = demo.tenants[0]
  const [writer, tester] = ['writer', 'tester'].map((name) => tenant?.apps.find((app) => app.name === name))
  if (tenant === undefined || writer === undefined || tester === undefined)
    throw new Error('The environment has no demo data')
  const api = await apiCaller(tenant.tenantId, writer, { apiUrl: demo.apiUrl, directoryUrl, demo })

  const collectionId = await newCollection(api, say)
  const { linkId, added, group } = await newLink(collectionId, tenant.groups, api, say)
  const token = await accessToken(tenant.tenantId, tester, GRAPH_SCOPE, { directoryUrl })
  const members = await groupMembers(group.id, directoryUrl, token)
  say(`Directory group ${group.displayName}: ${members.length} members, ${added} added by the sync job.`)
  return `${demo.apiUrl}/console/links/${linkId}`
}

async function newCollection(api: Call, say: Say): Promise<string> {
  const body = { objectType: 'Relationship', name: `Teachers ${new Date().toISOString()}`, condition: TEACHERS }
  const collectionId = String((await api('POST', '/collections-criteria/beta', body)).data)
  const results = await until(async () => {
    const { data } = await api('GET', `/collections-criteria/beta/${collectionId}/results`)
    const found = data as { memberIds: string[]; evaluatedAt: string | null }
    return found.evaluatedAt === null ? undefined : found
  })
  say(`Collection ${collectionId}: ${results.memberIds.length} teachers, evaluated at ${results.evaluatedAt}.`)
  return collectionId
}

/** Links the first security group that has no link, and waits for the end of its first sync job. */
async function newLink(collectionId: string, groups: DemoAnswer['tenants'][number]['groups'], api: Call, say: Say) {
  for (const group of groups.filter(({ kind }) => kind === 'security')) {
    const created = await api('POST', '/group-link/beta/group-links', {
      collectionId,
      directoryGroupId: group.id,
    }).catch((error: Error) => {
      if (error.message.includes('GroupAlreadyLinked')) return undefined
      throw error
    })
    if (created === undefined) continue
    const linkId = String(created.data)
    say(`Group link ${linkId}: directory group ${group.displayName}, ${group.id}.`)
    const job = await until(async () => {
      const { data } = await api('GET', `/group-link/beta/sync-jobs?collectionId=${collectionId}`)
      const latest = (data as { id: string; status: string; added: number; removed: number; error: string | null }[])[0]
      return latest?.status === 'Succeeded' || latest?.status === 'Failed' ? latest : undefined
    })
    say(
      `Sync job ${job.id}: ${job.status}, ${job.added} added, ${job.removed} removed${job.error ? `: ${job.error}` : ''}.`,
    )
    return { linkId, added: job.added, group }
  }
  throw new Error('All security groups of the demo are linked. Delete a group link or the data folder')
}
async function groupMembers(groupId: string, directoryUrl: string, token: string): Promise<string[]> {
  const ids: string[] = []
  let url: string | undefined = `${directoryUrl}/v1.0/groups/${groupId}/members?$select=id&$top=999`
  while (url !== undefined) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    const page = (await response.json()) as { value: { id: string }[]; '@odata.nextLink'?: string }
    ids.push(...page.value.map(({ id }) => id))
    url = page['@odata.nextLink']
  }
  return ids
}

async function until<T>(read: () => Promise<T | undefined>): Promise<T> {
  const endMs = performance.now() + TIMEOUT_MS
  while (performance.now() < endMs) {
    const result = await read()
    if (result !== undefined) return result
    await sleep(POLL_EVERY_MS)
  }
  throw new Error(`No result within ${TIMEOUT_MS / 1000} s. Check that the environment is running`)
}
