import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { Client } from '@microsoft/microsoft-graph-client'
import fc from 'fast-check'
import type { LocalDirectory } from '../../infra/local/directory/directory-server.ts'
import type { FaultDefinition } from '../../infra/local/directory/faults.ts'
import {
  binding,
  GROUPS,
  graphClient,
  memberIds,
  OTHER_TENANT,
  openDirectory,
  PRINCIPAL,
  SEED,
  user,
} from '../support/local/directory-fixture.ts'

const START_MS = Date.parse('2030-01-01T00:00:00Z')
const DAY_MS = 24 * 60 * 60 * 1000
const EXPIRED = { statusCode: 410, code: 'syncStateNotFound' }

type Page = { value: Group[]; '@odata.nextLink'?: string; '@odata.deltaLink'?: string }
type Group = { id: string; 'members@delta'?: Member[]; '@removed'?: { reason: string } }
type Member = { '@odata.type': string; id: string; '@removed'?: { reason: string } }

const users = (from: number, count: number) => Array.from({ length: count }, (_, index) => user(from + index))
const filter = (ids: readonly string[]) => ids.map((id) => `id eq '${id}'`).join(' or ')
const firstQuery = (...ids: string[]) => `/groups/delta?$select=members&$filter=${filter(ids)}`

/** All pages of a round, in order. */
async function pagesOf(client: Client, url: string): Promise<Page[]> {
  const pages: Page[] = []
  for (let next: string | undefined = url; next !== undefined; next = pages.at(-1)?.['@odata.nextLink']) {
    pages.push(await client.api(next).get())
  }
  return pages
}

async function roundOf(client: Client, url: string) {
  const pages = await pagesOf(client, url)
  return { pages, groups: pages.flatMap(({ value }) => value), deltaLink: pages.at(-1)?.['@odata.deltaLink'] ?? '' }
}

describe('Delta queries over groups in the local directory', () => {
  let nowMs = START_MS
  let directory: LocalDirectory
  let service: Client
  before(async () => {
    directory = await openDirectory({ nowMs: () => nowMs })
    service = graphClient(directory, 'service')
  })
  after(() => directory.close())
  beforeEach(async () => {
    directory.setFaults([])
    for (const id of await memberIds(service, GROUPS.plain)) await remove(GROUPS.plain, id)
  })

  const add = (groupId: string, ...ids: string[]) => service.api(`/groups/${groupId}`).patch(binding(ids))
  const remove = (groupId: string, id: string) => service.api(`/groups/${groupId}/members/${id}/$ref`).delete()
  const member = (id: string) => ({ '@odata.type': '#microsoft.graph.user', id })
  const removed = (id: string) => ({ ...member(id), '@removed': { reason: 'deleted' } })

  it('returns the members first, without service principals, and then only changes', async () => {
    const first = await roundOf(service, firstQuery(GROUPS.plain, GROUPS.populated, user(7)))
    const nested = { '@odata.type': '#microsoft.graph.group', id: GROUPS.plain }
    const members = [member(user(1)), member(user(2)), member(user(3)), nested]
    assert.deepEqual(first.groups, [{ id: GROUPS.plain }, { id: GROUPS.populated, 'members@delta': members }])
    assert.deepEqual(first.pages.at(-1)?.value, [])

    const second = await pagesOf(service, first.deltaLink)
    assert.deepEqual(
      second.map(({ value }) => value),
      [[]],
    )

    await add(GROUPS.plain, user(5), user(6))
    await remove(GROUPS.plain, user(5))
    await add(GROUPS.unified, user(8))
    const third = await roundOf(service, second[0]?.['@odata.deltaLink'] ?? '')
    assert.deepEqual(third.groups, [{ id: GROUPS.plain, 'members@delta': [removed(user(5)), member(user(6))] }])
    assert.deepEqual((await roundOf(service, third.deltaLink)).groups, [])
    assert.equal(JSON.stringify(first.groups).includes(PRINCIPAL), false)
  })

  it('returns a deleted user as removed, and a deleted group as removed', async () => {
    const tester = graphClient(directory, 'tester')
    const body = { displayName: 'Delta', mailNickname: 'delta', 'members@odata.bind': [] }
    const { id: groupId } = await tester.api('/groups').post(body)
    const { id: userId } = await tester
      .api('/users')
      .post({ displayName: 'X', mailNickname: 'x', userPrincipalName: 'x@one.example' })
    await add(groupId, userId)
    const first = await roundOf(service, firstQuery(groupId))
    await tester.api(`/users/${userId}`).delete()
    const second = await roundOf(service, first.deltaLink)
    assert.deepEqual(second.groups, [{ id: groupId, 'members@delta': [removed(userId)] }])
    await tester.api(`/groups/${groupId}`).delete()
    const third = await roundOf(service, second.deltaLink)
    assert.deepEqual(third.groups, [{ id: groupId, '@removed': { reason: 'deleted' } }])
  })

  it('shows a change that its read does not see yet in a later round', async () => {
    const { deltaLink } = await roundOf(service, firstQuery(GROUPS.plain))
    nowMs += 60_000
    await add(GROUPS.plain, user(9))
    directory.setFaults([{ path: '/delta$', staleMs: 1_000, times: 1 }])
    const stale = await roundOf(service, deltaLink)
    assert.deepEqual(stale.groups, [])
    const later = await roundOf(service, stale.deltaLink)
    assert.deepEqual(later.groups, [{ id: GROUPS.plain, 'members@delta': [member(user(9))] }])
  })

  it('rejects a token after seven days, and when the directory has reset', async () => {
    const { deltaLink } = await roundOf(service, firstQuery(GROUPS.plain))
    nowMs += 7 * DAY_MS
    service = graphClient(directory, 'service')
    const renewed = await roundOf(service, deltaLink)
    nowMs += 1
    await assert.rejects(service.api(deltaLink).get(), EXPIRED)
    directory.setFaults([{ path: '/delta$', delta: 'reset', times: 1 }])
    await assert.rejects(service.api(renewed.deltaLink).get(), EXPIRED)
    assert.deepEqual((await roundOf(service, renewed.deltaLink)).groups, [])
  })

  for (const [claim, query] of [
    ['more than 50 groups', firstQuery(...users(0, 51))],
    ['a query without filter', '/groups/delta?$select=members'],
    ['a filter of names', "/groups/delta?$select=members&$filter=displayName eq 'x'"],
    ['other properties', `/groups/delta?$select=displayName&$filter=id eq '${GROUPS.plain}'`],
    ['a damaged token', '/groups/delta?$deltatoken=abc'],
  ] as const) {
    it(`rejects ${claim}`, () => assert.rejects(service.api(query).get(), { statusCode: 400 }))
  }

  it('rejects a token of another tenant, and an application without permission', async () => {
    const { deltaLink } = await roundOf(service, firstQuery(...users(100, 49), GROUPS.plain))
    const other = graphClient(directory, 'service', OTHER_TENANT)
    await assert.rejects(other.api(deltaLink).get(), { statusCode: 400 })
    await assert.rejects(graphClient(directory, 'reader').api(deltaLink).get(), { statusCode: 403 })
  })

  it('shows merged over all pages and rounds what the groups have, with empty pages, replays and stale reads', async () => {
    const groupIds: readonly string[] = [GROUPS.plain, GROUPS.unified]
    const someUser = fc.integer({ min: 10, max: 14 }).map(user)
    const step = fc.oneof(
      fc.record({ kind: fc.constant('change' as const), group: fc.constantFrom(...groupIds), id: someUser }),
      fc.record({
        kind: fc.constant('round' as const),
        fault: fc.constantFrom<FaultDefinition | undefined>(
          undefined,
          { path: '/delta$', delta: 'emptyPage', times: 2 },
          { path: '/delta$', delta: 'replay', times: 1 },
          { path: '/delta$', staleMs: 30_000, times: 1 },
        ),
      }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        service = graphClient(directory, 'service')
        const seen = new Map(groupIds.map((id) => [id, new Set<string>()]))
        let url = firstQuery(...groupIds)
        const run = async () => {
          const { groups, deltaLink } = await roundOf(service, url)
          url = deltaLink
          for (const { id, 'members@delta': members = [] } of groups) {
            for (const member of members) {
              if (member['@removed'] === undefined) seen.get(id)?.add(member.id)
              else seen.get(id)?.delete(member.id)
            }
          }
        }
        for (const step of steps) {
          nowMs += 10_000
          if (step.kind === 'round') {
            directory.setFaults(step.fault === undefined ? [] : [step.fault])
            await run()
            directory.setFaults([])
          } else if ((await memberIds(service, step.group)).includes(step.id)) await remove(step.group, step.id)
          else await add(step.group, step.id)
        }
        await run()
        for (const id of groupIds) assert.deepEqual([...(seen.get(id) ?? [])].sort(), await memberIds(service, id))
      }),
      { numRuns: 15 },
    )
  })
})

describe('Delta queries over a large group', () => {
  const COUNT = 2_300
  const folder = mkdtempSync(join(tmpdir(), 'directory-'))
  const [tenant, ...others] = SEED.tenants
  if (tenant === undefined) throw new Error('The seed has no tenant.')
  const people = users(10_000, COUNT).map((id, index) => ({
    id,
    displayName: `Person ${index}`,
    userPrincipalName: `p${index}@one.example`,
  }))
  const groups = tenant.groups.map((group) =>
    group.id === GROUPS.unified ? { ...group, memberIds: people.map(({ id }) => id) } : group,
  )
  const seed = { ...SEED, tenants: [{ ...tenant, users: [...tenant.users, ...people], groups }, ...others] }
  after(() => rmSync(folder, { recursive: true }))

  it('return it on several pages; changes after the round began come in the next one, also after a restart', async () => {
    const directory = await openDirectory({ folder, seed })
    const service = graphClient(directory, 'service')
    const [first, ...rest] = await pagesOf(service, firstQuery(GROUPS.unified))
    const sizes = [first, ...rest].map((page) => page?.value.map((group) => group['members@delta']?.length))
    assert.deepEqual(sizes, [[1000], [1000], [300], []])
    await service.api(`/groups/${GROUPS.unified}/members/${user(10_000)}/$ref`).delete()
    const second = await pagesOf(service, first?.['@odata.nextLink'] ?? '')
    await directory.close()

    const restarted = await openDirectory({ folder, seed })
    const deltaLink = second.at(-1)?.['@odata.deltaLink'] ?? ''
    const link = deltaLink.replace(directory.url, restarted.url)
    const { groups: changed } = await roundOf(graphClient(restarted, 'service'), link)
    await restarted.close()
    assert.deepEqual(
      changed.map((group) => group['members@delta']?.map(({ id }) => id)),
      [[user(10_000)]],
    )
  })
})
