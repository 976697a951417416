import { setTimeout as sleep } from 'node:timers/promises'
import createClient from 'openapi-fetch'

// `CollectionsApi` and `CollectionsSchemas` are what was generated from the API's description. The test declares them,
// and compiles this file with them before it runs it.

export type DriverInput = {
  readonly apiUrl: string
  readonly tokens: Readonly<Record<'writer' | 'employee' | 'manager', string>>
  /** Two groups that can be linked. */
  readonly groupIds: readonly [string, string]
}

export type DriverOutcome = {
  readonly memberIds: readonly string[]
  readonly firstJob: CollectionsSchemas['SyncJob']
  readonly secondJob: CollectionsSchemas['SyncJob']
  readonly request: CollectionsSchemas['MembershipRequest']
  readonly joinedIds: readonly string[]
  readonly refusalCodes: readonly string[]
}

type Client = ReturnType<typeof clientOf>

const LOOK_AGAIN_AFTER_MS = 50
const MAX_LOOK_COUNT = 300

/** The main job of the service, as an application that was written against its description does it. */
export async function drive({ apiUrl, tokens, groupIds }: DriverInput): Promise<DriverOutcome> {
  const writer = clientOf(apiUrl, tokens.writer)
  const criteriaId = await createTeachers(writer)
  const memberIds = await membersOf(writer, criteriaId)
  const firstJob = await linkTo(writer, criteriaId, groupIds[0])
  const { jobId } = answered(
    await writer.POST('/group-link/beta/group-links/{collectionId}/sync', {
      params: { path: { collectionId: criteriaId } },
    }),
  )
  const secondJob = await endOf(writer, jobId)
  const joinableId = await createFirstAiders(writer)
  const request = await join(clientOf(apiUrl, tokens.employee), clientOf(apiUrl, tokens.manager), joinableId)
  await linkTo(writer, joinableId, groupIds[1])
  const joined = answered(
    await writer.GET('/collections-joinable/beta/{id}/results', { params: { path: { id: joinableId } } }),
  )
  return {
    memberIds,
    firstJob,
    secondJob,
    request,
    joinedIds: joined.memberIds.map((member) => (typeof member === 'string' ? member : member.objectId)),
    refusalCodes: await refusedFor(writer, criteriaId, groupIds[0]),
  }
}

function clientOf(baseUrl: string, token: string) {
  return createClient<CollectionsApi>({ baseUrl, headers: { authorization: `Bearer ${token}` } })
}

/** The payload of a success; anything else ends the drive. */
function answered<Data>({ data, error }: { data?: { data: Data }; error?: unknown }): Data {
  if (data === undefined) throw new Error(JSON.stringify(error))
  return data.data
}

async function eventually<T>(look: () => Promise<T | undefined>): Promise<T> {
  for (let count = 0; count < MAX_LOOK_COUNT; count += 1) {
    const seen = await look()
    if (seen !== undefined) return seen
    await sleep(LOOK_AGAIN_AFTER_MS)
  }
  throw new Error('Waited in vain')
}

const TEACHERS: CollectionsSchemas['Condition'] = {
  groupOperator: 'AND',
  conditions: [
    { id: 'relationshipTitle', field: 'relationshipTitle', operator: 'Contains', value: 'Teacher' },
    {
      groupOperator: 'NOT',
      conditions: [{ id: 'identityDirectoryObjectId', field: 'identityDirectoryObjectId', operator: 'IsNull' }],
    },
  ],
}

async function createTeachers(writer: Client): Promise<string> {
  const body = { objectType: 'Relationship', name: 'Teachers', condition: TEACHERS } as const
  return answered(await writer.POST('/collections-criteria/beta', { body }))
}

function membersOf(writer: Client, id: string): Promise<string[]> {
  return eventually(async () => {
    const results = answered(await writer.GET('/collections-criteria/beta/{id}/results', { params: { path: { id } } }))
    return results.evaluatedAt === null ? undefined : results.memberIds.map(String)
  })
}

/** Links, and waits for the first job. */
async function linkTo(
  writer: Client,
  collectionId: string,
  directoryGroupId: string,
): Promise<CollectionsSchemas['SyncJob']> {
  const id = answered(await writer.POST('/group-link/beta/group-links', { body: { collectionId, directoryGroupId } }))
  const link = answered(await writer.GET('/group-link/beta/group-links/{id}', { params: { path: { id } } }))
  const [job] = answered(
    await writer.GET('/group-link/beta/sync-jobs', {
      params: { query: { collectionId: link.collectionId, limit: 1 } },
    }),
  )
  if (job === undefined) throw new Error('The link has no job')
  return endOf(writer, job.id)
}

function endOf(writer: Client, id: string): Promise<CollectionsSchemas['SyncJob']> {
  return eventually(async () => {
    const job = answered(await writer.GET('/group-link/beta/sync-jobs/{id}', { params: { path: { id } } }))
    return job.status === 'Succeeded' || job.status === 'Failed' ? job : undefined
  })
}

async function createFirstAiders(writer: Client): Promise<string> {
  const joinPolicy: CollectionsSchemas['JoinPolicyInput'] = {
    approvalRequired: true,
    approvalGates: [{ order: 1, type: 'Manager' }],
  }
  const body = { objectType: 'Identity', name: 'First aiders', joinPolicy } as const
  return answered(await writer.POST('/collections-joinable/beta', { body }))
}

async function join(
  employee: Client,
  manager: Client,
  collectionId: string,
): Promise<CollectionsSchemas['MembershipRequest']> {
  const requests = '/collections-joinable/beta/membership-requests'
  const path = { collectionId }
  const submitted = answered(
    await employee.POST(`${requests}/{collectionId}/submit`, {
      params: { path },
      body: { notes: 'I took the course' },
    }),
  )
  const waiting = answered(
    await manager.GET(`${requests}/pending-approval-review/{collectionId}`, { params: { path } }),
  )
  if (!waiting.some(({ id }) => id === submitted.id)) throw new Error('The manager does not see the request')
  return answered(
    await manager.POST(`${requests}/{collectionId}/{requestId}/approve`, {
      params: { path: { collectionId, requestId: submitted.id } },
      body: {},
    }),
  )
}

/** What the compiler sees to be wrong, and what only the service can know. */
async function refusedFor(writer: Client, collectionId: string, directoryGroupId: string): Promise<string[]> {
  const nameless = await writer.POST('/collections-criteria/beta', {
    // @ts-expect-error: a collection needs a name
    body: { objectType: 'Relationship', condition: TEACHERS },
  })
  const nand = { groupOperator: 'NAND', conditions: TEACHERS.conditions } as const
  const unknownOperator = await writer.POST('/collections-criteria/beta/preview', {
    // @ts-expect-error: there is no such operator
    body: { preview: { objectType: 'Relationship', condition: nand } },
  })
  const twice = await writer.POST('/group-link/beta/group-links', { body: { collectionId, directoryGroupId } })
  return [nameless, unknownOperator, twice].flatMap(({ error }) => error?.errors.map(({ code }) => code) ?? [])
}
