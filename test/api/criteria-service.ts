import { createHash, randomUUID } from 'node:crypto'
import { collectionRoutes } from '../../functions/routes/collections.ts'
import { criteriaRoutes } from '../../functions/routes/collections-criteria.ts'
import { type LocalCosmos, startCosmos } from '../../infra/local/cosmos/server.ts'
import { createContainers } from '../../infra/local/create-containers.ts'
import { cosmosAccountMoves } from '../../shared/cosmos/account-moves.ts'
import { cosmosCollectionStore } from '../../shared/cosmos/collection-store.ts'
import { cosmosCoreObjectChanges } from '../../shared/cosmos/core-object-changes.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { cosmosEvaluationLogStore } from '../../shared/cosmos/evaluation-log-store.ts'
import { cosmosJoinedMembers } from '../../shared/cosmos/joined-members.ts'
import { cosmosMembershipStore } from '../../shared/cosmos/membership-store.ts'
import type { Role } from '../../shared/domain/caller.ts'
import type { CollectionDependencies } from '../../shared/domain/collections/collection-dependencies.ts'
import { TenantEvaluator } from '../../shared/domain/collections/evaluate-tenant.ts'
import { TenantSnapshots } from '../../shared/domain/collections/tenant-snapshots.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'
import type { Doorbell } from '../../shared/domain/doorbell.ts'
import { UNMEASURED } from '../../shared/domain/measures.ts'
import { testLag } from '../contract/local-database.ts'
import { application, type Body, type Send, sendTo, type TestAnswer, user } from './core-data-service.ts'

export const CRITERIA = '/collections-criteria/beta'
export const COLLECTIONS = '/collections/beta'
export const NOBODYS_ID = 'eeeeeeee-0000-4000-8000-000000000001'

/** One process of the service with its own memory, on a database that it may share. */
export type CriteriaProcess = CollectionDependencies & {
  readonly evaluator: TenantEvaluator
  readonly rings: Doorbell[]
}

export type CriteriaService = {
  readonly cosmos: LocalCosmos
  readonly database: ReturnType<typeof openDatabase>
  readonly process: CriteriaProcess
  /** Collections that feed a group: collection id to the ids of its links. */
  readonly links: Map<string, string[]>
  readonly clock: { nowMs: number }
  /** Another process on the same database. What is given replaces its parts. */
  newProcess(parts?: Partial<CollectionDependencies>, rowsAtMost?: number): CriteriaProcess
  /** Requests of an application of a tenant that may write, or of one with other roles. */
  as(tenantId: string, ...roles: Role[]): Send
  asUser(tenantId: string, objectId: string, ...roles: Role[]): Send
  close(): Promise<void>
}

const QUIET = { info() {}, warn() {}, error() {} }

/** The routes of criteria collections and of all collections on a database of their own. */
export async function startCriteriaService(): Promise<CriteriaService> {
  const key = createHash('sha256').update('key of the local database').digest('base64')
  const cosmos = await startCosmos({ port: 0, file: ':memory:', key, strict: true, ...testLag() })
  await createContainers(cosmos.endpoint, key)
  const database = openDatabase({ endpoint: cosmos.endpoint, key })
  const links = new Map<string, string[]>()
  const clock = { nowMs: Date.parse('2030-03-01T12:00:00Z') }
  const newProcess = (parts: Partial<CollectionDependencies> = {}, rowsAtMost = 1_000_000): CriteriaProcess => {
    const rings: Doorbell[] = []
    const deps: CollectionDependencies = {
      collections: cosmosCollectionStore(database('collections')),
      memberships: cosmosMembershipStore(database('members')),
      evaluationLog: cosmosEvaluationLogStore(database('tenants')),
      joined: cosmosJoinedMembers(database('requests')),
      snapshots: new TenantSnapshots(
        cosmosCoreObjectChanges(database('coreObjects'), () => performance.now()),
        rowsAtMost,
      ),
      accountMoves: cosmosAccountMoves(database('coreObjects')),
      links: {
        linksOf: async (_tenantId, collectionId) => links.get(collectionId) ?? [],
        linkedCollections: async () => new Set(links.keys()),
        accountsMoved: async () => new Set(),
        behind: async () => new Set(),
      },
      tenants: { remember: async () => undefined },
      doorbells: { ring: async (doorbell) => void rings.push(doorbell) },
      log: QUIET,
      measures: UNMEASURED,
      newId: randomUUID,
      nowMs: () => clock.nowMs,
      ...parts,
    }
    return {
      ...deps,
      rings,
      evaluator: new TenantEvaluator({ ...deps, follower: { follow: async () => undefined } }),
    }
  }
  const process = newProcess()
  const groups = [criteriaRoutes(process), collectionRoutes(process)]
  return {
    cosmos,
    database,
    process,
    links,
    clock,
    newProcess,
    as: (tenantId, ...roles) => {
      const held: Role[] = roles.length > 0 ? roles : ['collections-criteria.criteria.readwrite.all']
      return sendTo(groups, application(tenantId, randomUUID(), ...held), process.nowMs, database('idempotencyKeys'))
    },
    asUser: (tenantId, objectId, ...roles) =>
      sendTo(groups, user(tenantId, objectId, ...roles), process.nowMs, database('idempotencyKeys')),
    close: () => cosmos.close(),
  }
}

/** A tenant of its own, whose core objects are written straight into the database. */
export function criteriaTenant(service: CriteriaService) {
  const tenantId = randomUUID()
  const send = service.as(tenantId)
  const put = async (objectType: ObjectType, attributes: object, id: string = randomUUID(), deleted = false) => {
    const document = { id, tenantId, objectType, externalId: `external ${id}`, attributes, deleted, contributors: [] }
    await service.database('coreObjects').items.upsert(document)
    return id
  }
  return {
    tenantId,
    send,
    put,
    person: (displayName: string, more: object = {}, id?: string) => put('identity', { displayName, ...more }, id),
    position: (identity: string, orgUnit: string | undefined, more: object = {}) =>
      put('relationship', {
        identity: { objectId: identity },
        ...(orgUnit === undefined ? {} : { orgUnit: { objectId: orgUnit } }),
        ...more,
      }),
    /** Makes a collection; of identities unless said otherwise. Answers its id. */
    create: async (condition: object, more: object = {}): Promise<string> => {
      const answer = await send('POST', CRITERIA, { objectType: 'Identity', name: 'A collection', condition, ...more })
      if (answer.status !== 201) throw new Error('The collection was refused', { cause: answer.body.errors })
      return answer.body.data
    },
    evaluate: () => service.process.evaluator.evaluate(tenantId),
    results: async (id: string): Promise<Body> => (await send('GET', `${CRITERIA}/${id}/results`)).body.data,
    members: async (id: string): Promise<string[]> =>
      (await send('GET', `${CRITERIA}/${id}/results`)).body.data.memberIds,
  }
}

export const leaf = (id: string, operator: string, value?: unknown, field = id) => ({
  id,
  field,
  operator,
  ...(value === undefined ? {} : { value }),
})
export const all = (...conditions: object[]) => ({ groupOperator: 'AND', conditions })
export const named = (displayName: string) => all(leaf('identityDisplayName', 'Equals', displayName))
export const startsWith = (text: string) => all(leaf('identityDisplayName', 'StartsWith', text))
export const memberOf = (id: string) => all(leaf('memberOfCollection', 'Equals', id))

/** Status and codes of an answer. */
export const codes = ({ status, body }: TestAnswer) => [
  status,
  ...body.errors.map(({ code }: { code: string }) => code),
]
/** Status, and each error's code with where it is. */
export const faults = ({ status, body }: TestAnswer) => [
  status,
  ...body.errors.map(({ code, target }: { code: string; target?: string }) => `${code} ${target}`),
]
