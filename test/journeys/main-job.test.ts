import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { CollectionResults } from '../../shared/domain/collections/collection.ts'
import type { PreviewReply } from '../../shared/domain/collections/preview.ts'
import type { Connector } from '../../shared/domain/connectors/connector.ts'
import type { ConnectorObjectDto } from '../../shared/domain/connectors/connector-object.ts'
import type { GroupLinkDto } from '../../shared/domain/group-links/group-link.ts'
import type { SyncJobDto } from '../../shared/domain/group-links/sync-job.ts'
import type { LinkPreview } from '../../shared/domain/sync/preview-sync.ts'
import {
  type ApiClient,
  applicationToken,
  asApplication,
  asPerson,
  eventually,
  everyCoreObject,
  groupMembers,
} from '../support/journeys/demo-clients.ts'
import { newDataFolder, type StartedEnvironment, startedEnvironment } from '../support/journeys/started-environment.ts'

/** Positions that have to do with teaching or care and have not ended, of people with an account. */
const CONDITION = {
  groupOperator: 'AND',
  conditions: [
    {
      groupOperator: 'OR',
      conditions: [
        { id: 'relationshipTitle', field: 'relationshipTitle', operator: 'Contains', value: 'Teacher' },
        { id: 'relationshipTitle', field: 'relationshipTitle', operator: 'In', value: ['Nurse', 'Cook', 'Librarian'] },
        { id: 'relationshipTitle', field: 'relationshipTitle', operator: 'StartsWith', value: 'Head of' },
      ],
    },
    {
      groupOperator: 'NOT',
      conditions: [{ id: 'identityDirectoryObjectId', field: 'identityDirectoryObjectId', operator: 'IsNull' }],
    },
  ],
}

/** The members that the condition stands for, found in plain code among the core objects that the routes return. */
async function expectedMembers(reader: ApiClient): Promise<{ relationshipIds: string[]; accounts: string[] }> {
  const identities = await everyCoreObject(reader, 'identities')
  const relationships = await everyCoreObject(reader, 'relationships')
  const accountOf = new Map(identities.map(({ id, directoryObjectId }) => [id, directoryObjectId]))
  const members = relationships.filter(({ title = '', identity }) => {
    const isTitled =
      title.includes('Teacher') || ['Nurse', 'Cook', 'Librarian'].includes(title) || title.startsWith('Head of')
    return isTitled && accountOf.get(identity?.objectId ?? '') !== undefined
  })
  const accounts = members.map(({ identity }) => String(accountOf.get(identity?.objectId ?? '')))
  return { relationshipIds: members.map(({ id }) => id).sort(), accounts: [...new Set(accounts)].sort() }
}

describe('the main job, end to end', () => {
  const dataFolder = newDataFolder()
  let environment: StartedEnvironment
  let writer: ApiClient
  let collectionId: string
  let expected: Awaited<ReturnType<typeof expectedMembers>>
  const groupId = () => environment.demo.tenants[0]?.groups.find(({ kind }) => kind === 'security')?.id ?? ''

  /** A worker that was killed holds up its link for twenty seconds: `SYNC_LEASE_S` of the sample. */
  const finishedJobs = async (count: number) =>
    eventually(
      `${count} finished jobs`,
      async () => {
        const { json } = await writer<SyncJobDto[]>('GET', `/group-link/beta/sync-jobs?collectionId=${collectionId}`)
        const ended = json.data.filter(({ status }) => status === 'Succeeded' || status === 'Failed')
        return ended.length >= count ? ended : undefined
      },
      40_000,
    )

  before(async () => {
    environment = await startedEnvironment(dataFolder)
    writer = await asApplication(environment, 'writer')
    expected = await expectedMembers(await asPerson(environment, 'coreAdmin'))
  })
  after(() => environment.stop())

  it('fills a criteria collection with exactly the positions that satisfy its condition', async () => {
    const body = { objectType: 'Relationship', name: 'Teaching and care', condition: CONDITION }
    const created = await writer<string>('POST', '/collections-criteria/beta', body)
    assert.equal(created.status, 201, JSON.stringify(created.json))
    collectionId = created.json.data
    assert.equal(created.headers.get('location'), `/collections-criteria/beta/${collectionId}`)
    const results = await eventually('an evaluation', async () => {
      const { json } = await writer<CollectionResults>('GET', `/collections-criteria/beta/${collectionId}/results`)
      return json.data.evaluatedAt === null ? undefined : json.data
    })
    assert.ok(expected.relationshipIds.length > 5)
    assert.deepEqual(results.memberIds, expected.relationshipIds)
  })

  it('previews the same members, and all of their accounts to be added to an empty group', async () => {
    const body = { preview: { objectType: 'Relationship', condition: CONDITION } }
    const preview = await writer<PreviewReply>('POST', '/collections-criteria/beta/preview', body)
    const ids = preview.json.data.preview.map(({ objectId }) => objectId)
    assert.deepEqual(ids, expected.relationshipIds)
    const link = await writer<LinkPreview>('POST', '/group-link/beta/group-links/preview', {
      collectionId,
      groupId: groupId(),
    })
    assert.deepEqual(link.json.data.membersToAdd.sort(), expected.accounts)
    assert.deepEqual(link.json.data.membersToRemove, [])
  })

  it('makes the group contain exactly their accounts', async () => {
    const created = await writer<string>('POST', '/group-link/beta/group-links', {
      collectionId,
      directoryGroupId: groupId(),
    })
    assert.equal(created.status, 201, JSON.stringify(created.json))
    const [job] = await finishedJobs(1)
    assert.equal(job?.status, 'Succeeded', JSON.stringify(job))
    assert.deepEqual([job.type, job.added, job.removed, job.skipped], ['LinkCreated', expected.accounts.length, 0, 0])
    assert.deepEqual(await groupMembers(environment, groupId()), expected.accounts)
    const link = await writer<GroupLinkDto>('GET', `/group-link/beta/group-links/${created.json.data}`)
    assert.equal(link.json.data.lastSyncOutcome, 'Succeeded')
  })

  it('continues after all processes were killed during a sync, and loads nothing twice', async () => {
    const before = await expectedMembers(await asPerson(environment, 'coreAdmin'))
    const queued = await writer<{ jobId: string }>('POST', `/group-link/beta/group-links/${collectionId}/sync`)
    assert.equal(queued.status, 202)
    const latest = await writer<string>('POST', '/collections-criteria/beta', {
      objectType: 'Relationship',
      name: 'Created before the crash',
      condition: CONDITION,
    })
    await environment.stop('SIGKILL')

    environment = await startedEnvironment(dataFolder)
    writer = await asApplication(environment, 'writer')
    const memberIds = await eventually(
      'the members of a collection that was created before the crash',
      async () => {
        const path = `/collections-criteria/beta/${latest.json.data}/results`
        const { data } = (await writer<CollectionResults>('GET', path)).json
        return data.evaluatedAt === null ? undefined : data.memberIds
      },
      30_000,
    )
    assert.deepEqual(memberIds, expected.relationshipIds)
    assert.deepEqual(await expectedMembers(await asPerson(environment, 'coreAdmin')), before)
    const jobs = await finishedJobs(2)
    assert.equal(jobs.find(({ id }) => id === queued.json.data.jobId)?.status, 'Succeeded')
    assert.deepEqual(await groupMembers(environment, groupId()), expected.accounts)
  })

  it('reverts manual changes in the directory by the sweep', async () => {
    const [account] = expected.accounts
    const tester = await graphClient(environment)
    const removed = await tester('DELETE', `/v1.0/groups/${groupId()}/members/${account}/$ref`)
    assert.equal(removed.status, 204)
    const swept = await fetch(`${environment.apiUrl}/admin/functions/sweep`, { method: 'POST', body: '{}' })
    assert.equal(swept.status, 202)
    const jobs = await finishedJobs(3)
    assert.equal(jobs[0]?.type, 'ScheduledSweep')
    assert.deepEqual(await groupMembers(environment, groupId()), expected.accounts)
  })

  it('removes a person whose position ends from the collection and the group within seconds, without a job', async () => {
    const connector = await asApplication(environment, 'connector')
    const operator = await asApplication(environment, 'operator')
    const connectorId = (await operator<Connector[]>('GET', '/iamcore/sync/connectors')).json.data[0]?.id
    const gone = await memberWithOnePosition(environment, expected.relationshipIds)
    const path = `/iamcore/beta/sync/connectors/${connectorId}/data`
    const { json } = await connector<ConnectorObjectDto>('GET', `${path}/relationship/${gone.externalId}`)
    const deleted = await connector('DELETE', `${path}/${json.data.id}`)
    assert.equal(deleted.status, 200, JSON.stringify(deleted.json))
    const left = expected.accounts.filter((account) => account !== gone.account)
    await eventually('the account to leave the group', async () => {
      const members = await groupMembers(environment, groupId())
      return members.length === left.length ? members : undefined
    }).then((members) => assert.deepEqual(members, left))
    assert.equal((await finishedJobs(3)).length, 3)
  })

  it('replaces the account in the group when the account of a member changes', async () => {
    const connector = await asApplication(environment, 'connector')
    const operator = await asApplication(environment, 'operator')
    const connectorId = (await operator<Connector[]>('GET', '/iamcore/sync/connectors')).json.data[0]?.id
    const path = `/iamcore/beta/sync/connectors/${connectorId}/data`
    const before = await groupMembers(environment, groupId())
    const people = await everyCoreObject(await asPerson(environment, 'coreAdmin'), 'identities')
    const person = people.find(({ directoryObjectId }) => directoryObjectId === before[0])
    const { json } = await connector<ConnectorObjectDto>('GET', `${path}/identity/${person?.externalId}`)
    const directoryObjectId =
      environment.demo.tenants[0]?.people.find(({ name }) => name === 'outsider')?.objectId ?? ''
    const data = { ...json.data.data, directoryObjectId }
    const put = await connector('PUT', `${path}/${json.data.id}`, { data })
    assert.equal(put.status, 200, JSON.stringify(put.json))
    const expectedNow = [...before.slice(1), directoryObjectId].sort()
    await eventually('the other account in the group', async () => {
      const members = await groupMembers(environment, groupId())
      return members.includes(directoryObjectId) && !members.includes(before[0] ?? '') ? members : undefined
    }).then((members) => assert.deepEqual(members, expectedNow))
  })
})

async function graphClient(environment: StartedEnvironment) {
  const token = await applicationToken(environment, 'tester', 'https://graph.microsoft.com/.default')
  return (method: string, path: string) => environment.directory(method, path, { token })
}

async function memberWithOnePosition(environment: StartedEnvironment, memberIds: readonly string[]) {
  const reader = await asPerson(environment, 'coreAdmin')
  const relationships = await everyCoreObject(reader, 'relationships')
  const identities = await everyCoreObject(reader, 'identities')
  for (const { id, externalId, identity } of relationships) {
    const held = relationships.filter((other) => other.identity?.objectId === identity?.objectId)
    const account = identities.find((person) => person.id === identity?.objectId)?.directoryObjectId
    if (memberIds.includes(id) && held.length === 1 && account !== undefined) return { externalId, account }
  }
  throw new Error('Every member has several positions')
}
