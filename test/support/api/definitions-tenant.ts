import { randomUUID } from 'node:crypto'
import { collectionRoutes } from '../../../functions/routes/collections.ts'
import { criteriaRoutes } from '../../../functions/routes/collections-criteria.ts'
import { joinableRoutes } from '../../../functions/routes/collections-joinable.ts'
import { groupLinkRoutes } from '../../../functions/routes/group-link.ts'
import { readTenant, type Tenant } from '../../../infra/definitions/tenant.ts'
import { type ApiCall, ApiRefusal } from '../../../infra/import/api-connection.ts'
import type { Attributes, ObjectType } from '../../../shared/domain/core/core-object.ts'
import { dispatcher } from '../../../shared/http/dispatch.ts'
import type { Caller } from '../../../shared/kernel/caller.ts'
import { startDirectAccount } from '../contract/local-database.ts'
import { openDirectory, TENANT } from '../jobs/link-directory.ts'
import { builtService, faultLog, requestsTo } from './built-service.ts'

const START_MS = Date.parse('2030-06-01T08:00:00Z')
export const GROUP_NAMES = ['North', 'South', 'East', 'West'] as const
export const TITLES = ['Nurse', 'Cook', 'Guard'] as const
const PEOPLE_COUNT = 12

export type DefinitionsTenant = Awaited<ReturnType<typeof definitionsTenant>>

/** The members of each collection, by the collection's id. */
export type Members = ReadonlyMap<string, ReadonlySet<string>>

/** A tenant with people, positions and groups, and its API as an administrator. Members follow each write at once. */
export async function definitionsTenant() {
  let elapsedMs = 0
  const nowMs = () => START_MS + elapsedMs
  const { cosmos, container } = await startDirectAccount(nowMs)
  const { directory, newGroup, close: closeDirectory } = await openDirectory()
  const roles = new Set(['collection_criteria_definition-administrator'] as const)
  const caller: Caller = { kind: 'user', tenantId: TENANT, objectId: randomUUID(), clientId: randomUUID(), roles }
  const faults: unknown[] = []
  const service = builtService(container, {
    nowMs,
    elapsedMs: () => elapsedMs,
    log: faultLog(faults),
    directory,
    loadTenant: () => undefined,
    authenticate: async () => caller,
  })
  const { requests, links, dispatch } = service
  const groups = [
    collectionRoutes(requests),
    criteriaRoutes(requests),
    joinableRoutes(requests),
    groupLinkRoutes(links),
  ]
  const request = requestsTo(groups, dispatch, dispatcher)

  const call: ApiCall = async (method, path, body, headers = {}) => {
    const answer = await request(method, path, headers, body)
    const { isSuccess, error, errors = [], ...rest } = JSON.parse(answer.body ?? '{}')
    if (isSuccess !== true) throw new ApiRefusal(`${method} ${path}: ${answer.status} ${error}`, answer.status, errors)
    if (method !== 'GET') await service.evaluator.evaluate(TENANT)
    return { ...rest, etag: answer.headers.etag }
  }

  const put = async (objectType: ObjectType, attributes: Attributes, id: string = randomUUID()): Promise<string> => {
    const document = { id, tenantId: TENANT, objectType, externalId: id, attributes, contributors: [], deleted: false }
    await container('coreObjects').items.upsert(document)
    return id
  }
  const people: string[] = []
  for (let index = 0; index < PEOPLE_COUNT; index += 1) {
    const identity = await put('identity', { displayName: `Person ${index}`, directoryObjectId: randomUUID() })
    people.push(identity)
    const title = TITLES[index % TITLES.length] ?? ''
    await put('relationship', { identity: { objectId: identity }, title })
  }
  const groupIds = new Map<string, string>()
  for (const displayName of GROUP_NAMES) groupIds.set(displayName, await newGroup({ displayName }))

  return {
    call,
    people,
    groupIds,
    faults,
    pass(durationS: number): void {
      elapsedMs += durationS * 1000
    },
    read: (): Promise<Tenant> => readTenant(call),
    async membersOf({ collections }: Tenant): Promise<Members> {
      const found = collections.map(async ({ id }) => {
        const { data } = await call('GET', `/collections/beta/${id}/results`)
        const { memberIds } = data as { memberIds: readonly unknown[] }
        return [id, new Set(memberIds.map((member) => JSON.stringify(member)))] as const
      })
      return new Map(await Promise.all(found))
    },
    async close(): Promise<void> {
      await closeDirectory()
      await cosmos.close()
    },
  }
}
