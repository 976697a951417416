import { after, beforeEach } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { groupLinkRoutes } from '../../../functions/routes/group-link.ts'
import { PREFIXES } from '../../../functions/routes/prefixes.ts'
import type { Caller, Role } from '../../../shared/kernel/caller.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'
import { SMALL_TENANT, TENANT, user } from '../jobs/link-directory.ts'
import { type FixtureOptions, type LinkFixture, openFixture } from '../jobs/link-fixture.ts'
import { requestsTo } from './built-service.ts'

export const UNKNOWN_ID = 'eeeeeeee-0000-4000-8000-000000000001'
export const TIMESTAMP = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00$/

export type Envelope = {
  data: unknown
  errors: { code: string; target?: string }[]
  error?: string
  isSuccess: boolean
}
export type Reply = { status: number; headers: Readonly<Record<string, string>>; body: Envelope }
export type Call = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Reply>

const ROLES: Record<string, readonly Role[]> = {
  reader: ['collections-criteria.criteria.read.all'],
  writer: ['collections-criteria.criteria.readwrite.all'],
  stranger: ['collections-criteria.criteria.readwrite.all'],
  nobody: [],
  administrator: ['collection_criteria_definition-administrator'],
}

/** The routes of group links on the test's servers. */
export type LinkApi = LinkFixture & {
  /** As an application that may write. */
  readonly call: Call
  /** As `reader`, `writer`, `stranger` (a writer of another tenant), an application without a role, or
   * the user `administrator`. */
  as(name: string): Call
  /** Creates a link and returns its id. */
  create(collectionId: string, directoryGroupId: string): Promise<string>
  /** Reports these properties for the group while `act` runs: Graph cannot create some kinds of group. */
  withProperties<T>(groupId: string, properties: Record<string, unknown>, act: () => Promise<T>): Promise<T>
}

/** The API for all tests of a file. Each begins without faults and without sent messages. */
export async function linkApiOfTests(): Promise<LinkApi> {
  const api = await openLinkApi()
  after(() => api.close())
  beforeEach(() => {
    api.server.setFaults([])
    api.collections.failing = false
    api.sentMessages.length = 0
  })
  return api
}

export async function openLinkApi(options?: FixtureOptions): Promise<LinkApi> {
  const fixture = await openFixture(options)
  const authenticate = async (header: string | null) => callerOf(header ?? '')
  // The sleep of the test's clock advances it: a key would expire while other requests wait for its result.
  const idempotency = { ...fixture.dispatch.idempotency, sleep: (delayMs: number) => setTimeout(delayMs) }
  const request = requestsTo([groupLinkRoutes(fixture.deps)], { ...fixture.dispatch, authenticate, idempotency })
  const as =
    (name: string): Call =>
    async (method, path, body, headers = {}) => {
      const sent = { authorization: name, ...headers }
      const answer = await request(method, `/${PREFIXES.groupLink}${path}`, sent, body)
      return { status: answer.status, headers: answer.headers, body: JSON.parse(answer.body ?? 'null') }
    }
  const call = as('writer')
  return {
    ...fixture,
    call,
    as,
    create: async (collectionId, directoryGroupId) =>
      String((await call('POST', '/group-links', { collectionId, directoryGroupId })).body.data),
    async withProperties(id, properties, act) {
      const { directory } = fixture.deps
      const original = directory.readGroup
      directory.readGroup = async (tenantId, groupId) => {
        const group = await original(tenantId, groupId)
        return group === undefined || group.id !== id ? group : { ...group, ...properties }
      }
      try {
        return await act()
      } finally {
        directory.readGroup = original
      }
    },
  }
}

function callerOf(name: string): Caller {
  const roles = ROLES[name]
  if (roles === undefined) throw new Refusal('TokenInvalid')
  const tenantId = name === 'stranger' ? SMALL_TENANT : TENANT
  const kind = name === 'administrator' ? 'user' : 'application'
  return { kind, tenantId, objectId: user(0), clientId: user(1), roles: new Set(roles) }
}

export const codes = ({ status, body }: Reply) => [status, ...body.errors.map(({ code }) => code)]
