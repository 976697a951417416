import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Collection } from '../../shared/domain/collections/collection.ts'
import type { LetterContext } from '../../shared/domain/mail/letter.ts'
import { requestLetters } from '../../shared/domain/mail/request-letters.ts'
import type { LifecycleEntry, MembershipRequest } from '../../shared/domain/membership-requests/membership-request.ts'
import type { MembershipResolver } from '../../shared/domain/membership-requests/membership-resolver.ts'
import type { OrgChart } from '../../shared/domain/tenant-index/rows/org-chart.ts'
import { requestIn } from '../support/domain/membership-requests/requests.ts'

const NOW_MS = Date.parse('2030-01-02T00:00:00Z')
const SUBMITTED = '2030-01-01T00:00:00.000+00:00'
const WAITS = '2030-01-01T00:00:01.000+00:00'
const LATER = '2030-01-01T12:00:00.000+00:00'
const REQUESTED: LifecycleEntry = { status: 'Requested', actorId: 'ola', at: SUBMITTED }
const PENDING: LifecycleEntry = { status: 'PendingApproval', actorId: 'ola', at: WAITS }
const NAMES = new Map(Object.entries({ ola: 'Ola', anna: 'Anna', bo: 'Bo', dag: 'Dag', nameless: undefined }))

const COLLECTION = {
  ...{ id: 'collection', tenantId: 'tenant', kind: 'joinable', objectType: 'Identity', name: 'Choir' },
  definition: {
    approvalRequired: true,
    approvalGates: [{ order: 1, type: 'Identity', approvers: ['bo', 'anna', 'deleted'] }],
    joinableBy: { collectionIds: [] },
  },
  definitionVersion: 1,
} as unknown as Collection

const ORG_CHART = {
  has: (_type: string, id: string) => NAMES.has(id),
  managersOf: () => new Set(),
  rows: { textOf: (_type: string, _name: string, id: string) => NAMES.get(id) },
} as unknown as OrgChart

type Given = {
  readonly type: string
  readonly time?: string
  readonly actorId?: string
  readonly request?: MembershipRequest | undefined
  readonly collection?: Collection | undefined
  readonly deputies?: readonly (readonly [identityId: string, deputyId: string, fromMs: number, untilMs: number])[]
  readonly nowMs?: number
}

const waiting = (changes: Partial<MembershipRequest> = {}): MembershipRequest =>
  requestIn('PendingApproval', { requesterId: 'ola', lifecycle: [REQUESTED, PENDING], ...changes })

/** Who is told what, as `recipient: kind`, the whole letters, and whether they are known later only. */
async function lettersOf(given: Given) {
  const { type, time = WAITS, actorId = 'anna', deputies = [], nowMs = NOW_MS } = given
  const request = 'request' in given ? given.request : waiting()
  const collection = 'collection' in given ? given.collection : COLLECTION
  const context = { tenantId: 'tenant', orgChart: async () => ORG_CHART } as unknown as LetterContext
  const versioned = <T>(value: T | undefined) => value && { value, version: '1' }
  const event = {
    id: 'event',
    type,
    time,
    subject: '',
    data: { requestId: 'request', collectionId: 'collection', actorId },
  }
  const result = await requestLetters(event, context, {
    requests: { find: async (_, id) => (id === 'request' ? versioned(request) : undefined) },
    collections: {
      find: async (_, id, kind) => (id + kind === 'collectionjoinable' ? versioned(collection) : undefined),
    },
    membershipResolver: { identitiesIn: async () => new Map() } as unknown as MembershipResolver,
    deputies: {
      all: async () =>
        deputies.map(([identityId, deputyId, fromMs, untilMs]) => ({
          value: { tenantId: 'tenant', identityId, deputyId, fromMs, untilMs },
          version: '1',
        })),
    },
    nowMs: () => nowMs,
  })
  const isLater = result === 'later'
  const letters = isLater ? [] : result
  const told = letters.map(({ to, item }) => `${to.kind === 'person' ? to.identityId : ''}: ${item.kind}`)
  return { letters, told, isLater }
}

const EXTENSION = {
  ...{ endsAt: '2031-01-01T00:00:00.000+00:00', requestedBy: 'ola', requestedAt: WAITS },
  ...{ currentGate: { order: 1, type: 'Identity' as const, approverCount: 2 }, approvals: [], policyVersion: 1 },
}

describe('A request that waits at a gate is told', () => {
  const item = {
    ...{ kind: 'RequestWaiting', collectionName: 'Choir', requesterName: 'Ola', isExtension: false, onBehalfOf: null },
    path: '/inbox/collection/request',
  }
  const person = (identityId: string) => ({ kind: 'person', identityId })

  it('to those who may decide, in the order of their ids', async () => {
    const { letters } = await lettersOf({ type: 'request.waiting' })
    assert.deepEqual(letters, [
      { to: person('anna'), item },
      { to: person('bo'), item },
    ])
  })

  it('as a reminder, also later', async () => {
    const { told } = await lettersOf({ type: 'request.reminder', time: LATER })
    assert.deepEqual(told, ['anna: RequestReminder', 'bo: RequestReminder'])
    assert.equal((await lettersOf({ type: 'request.reminder', time: WAITS })).told.length, 2)
  })

  it('by the id of a requester without a name', async () => {
    const { letters } = await lettersOf({ type: 'request.waiting', request: waiting({ requesterId: 'nameless' }) })
    assert.deepEqual(letters[0]?.item, { ...item, requesterName: 'nameless' })
  })

  it('later while the requester is deleted, until it has ended or moved', async () => {
    for (const type of ['request.waiting', 'request.reminder']) {
      const gone = { requesterId: 'gone' }
      assert.equal((await lettersOf({ type, request: waiting(gone) })).isLater, true)
      const { told, isLater } = await lettersOf({ type, request: waiting({ ...gone, status: 'Cancelled' }) })
      assert.deepEqual([told, isLater], [[], false])
    }
  })

  it('as an extension of a membership', async () => {
    const request = waiting({ status: 'Joined', currentGate: null, extension: EXTENSION })
    const { letters } = await lettersOf({ type: 'request.waiting', request })
    assert.deepEqual(letters[0]?.item, { ...item, isExtension: true })
  })

  it('not when it has come to another gate since', async () => {
    assert.deepEqual((await lettersOf({ type: 'request.waiting', time: SUBMITTED })).told, [])
    assert.deepEqual((await lettersOf({ type: 'request.waiting', time: LATER })).told, [])
    assert.deepEqual((await lettersOf({ type: 'request.reminder', time: SUBMITTED })).told, [])
  })

  it('not when it was decided, or its gate is gone', async () => {
    for (const request of [waiting({ status: 'Rejected' }), waiting({ status: 'Joined', currentGate: null })]) {
      assert.deepEqual((await lettersOf({ type: 'request.waiting', request })).told, [])
    }
    const elsewhere = waiting({ currentGate: { order: 2, type: 'Identity', approverCount: 1 } })
    assert.deepEqual((await lettersOf({ type: 'request.waiting', request: elsewhere })).told, [])
  })

  it('not when it or its collection was deleted', async () => {
    assert.deepEqual((await lettersOf({ type: 'request.waiting', request: undefined })).told, [])
    assert.deepEqual((await lettersOf({ type: 'request.waiting', collection: undefined })).told, [])
  })
})

describe('The deputy of an approver is told', () => {
  const told = async (...deputies: NonNullable<Given['deputies']>) =>
    (await lettersOf({ type: 'request.waiting', deputies })).letters.map(({ to, item }) => [
      to.kind === 'person' ? to.identityId : '',
      (item as { onBehalfOf: string | null }).onBehalfOf,
    ])
  const APPROVERS = [
    ['anna', null],
    ['bo', null],
  ]

  it('on whose behalf', async () => {
    assert.deepEqual(await told(['anna', 'dag', NOW_MS, NOW_MS + 1]), [...APPROVERS, ['dag', 'Anna']])
  })

  it('not before and after the time', async () => {
    assert.deepEqual(await told(['anna', 'dag', NOW_MS + 1, NOW_MS + 2]), APPROVERS)
    assert.deepEqual(await told(['anna', 'dag', NOW_MS - 1, NOW_MS]), APPROVERS)
  })

  it('not on their own request, nor for somebody who may not decide, nor when they were deleted', async () => {
    assert.deepEqual(await told(['anna', 'ola', 0, NOW_MS + 1]), APPROVERS)
    assert.deepEqual(await told(['dag', 'ola', 0, NOW_MS + 1]), APPROVERS)
    assert.deepEqual(await told(['ola', 'dag', 0, NOW_MS + 1]), APPROVERS)
    assert.deepEqual(await told(['anna', 'deleted', 0, NOW_MS + 1]), APPROVERS)
  })

  it('once, as themselves, when they are an approver too', async () => {
    assert.deepEqual(await told(['anna', 'bo', 0, NOW_MS + 1]), APPROVERS)
  })
})

describe('The near end of a membership is told', () => {
  const END = '2030-01-05T00:00:00.000+00:00'
  const member = (changes: Partial<MembershipRequest> = {}) =>
    requestIn('Joined', { requesterId: 'ola', endsAt: END, endingTold: { endsAt: END, at: LATER }, ...changes })

  it('to the member, with the end', async () => {
    const { letters } = await lettersOf({ type: 'request.ending', time: LATER, request: member() })
    const item = { kind: 'MembershipEnding', collectionName: 'Choir', endsAtMs: Date.parse(END), path: '/me' }
    assert.deepEqual(letters, [{ to: { kind: 'person', identityId: 'ola' }, item: { ...item, staysUntilMs: null } }])
  })

  it('with the time until which the membership stays while a later end waits for a decision', async () => {
    const until = async (endsAt: string) => {
      const request = member({ extension: { ...EXTENSION, endsAt } })
      const { letters } = await lettersOf({ type: 'request.ending', time: LATER, request })
      return letters.map(({ item }) => [item.kind, (item as { staysUntilMs?: number | null }).staysUntilMs])
    }
    assert.deepEqual(await until(EXTENSION.endsAt), [['MembershipEnding', Date.parse('2030-01-19T00:00:00Z')]])
    const sooner = '2030-01-08T00:00:00.000+00:00'
    assert.deepEqual(await until(sooner), [['MembershipEnding', Date.parse(sooner)]])
  })

  it('not when it was put off, has passed, or the membership has ended', async () => {
    const { endsAt: _end, ...endless } = member()
    for (const request of [member({ endsAt: '2030-02-01T00:00:00.000+00:00' }), endless, member({ status: 'Left' })]) {
      assert.deepEqual((await lettersOf({ type: 'request.ending', time: LATER, request })).told, [])
    }
    const { endingTold: _told, ...untold } = member()
    assert.deepEqual((await lettersOf({ type: 'request.ending', time: LATER, request: untold })).told, [])
    const past = { type: 'request.ending', time: LATER, request: member() }
    assert.deepEqual((await lettersOf({ ...past, nowMs: Date.parse(END) })).told, [])
    assert.equal((await lettersOf({ ...past, nowMs: Date.parse(END) - 1 })).told.length, 1)
  })

  it('not again for an end that was put off, when the new one is told', async () => {
    const earlier = { type: 'request.ending', time: WAITS, request: member() }
    assert.deepEqual((await lettersOf(earlier)).told, [])
  })

  it('later while the member is deleted, until the membership has ended or moved', async () => {
    const gone = { requesterId: 'gone' }
    assert.equal((await lettersOf({ type: 'request.ending', time: LATER, request: member(gone) })).isLater, true)
    const { told, isLater } = await lettersOf({
      type: 'request.ending',
      time: LATER,
      request: member({ ...gone, status: 'Left' }),
    })
    assert.deepEqual([told, isLater], [[], false])
  })
})

describe('A decision is told', () => {
  const decided = (status: LifecycleEntry['status'], actorId: string, before: readonly LifecycleEntry[] = [PENDING]) =>
    requestIn(status, { requesterId: 'ola', lifecycle: [REQUESTED, ...before, { status, actorId, at: LATER }] })
  const toldOf = async (type: string, request: MembershipRequest, actorId = 'anna') =>
    (await lettersOf({ type, time: LATER, request, actorId })).letters.map(({ item }) => item)
  const about = { collectionName: 'Choir', path: '/me' }

  it('when the membership is granted, with its end', async () => {
    const granted = { kind: 'RequestGranted', ...about, isExtension: false, endsAtMs: null }
    assert.deepEqual(await toldOf('request.joined', decided('Joined', 'anna')), [granted])
    const endsAt = '2030-06-01T00:00:00.000+00:00'
    const ending = { ...decided('Joined', 'anna'), endsAt }
    assert.deepEqual(await toldOf('request.joined', ending), [{ ...granted, endsAtMs: Date.parse(endsAt) }])
  })

  it('when it is granted without a gate, by who added the person', async () => {
    assert.equal((await toldOf('request.joined', decided('Joined', 'writer', []))).length, 1)
    const approved: LifecycleEntry = { status: 'Approved', actorId: 'anna', at: LATER }
    assert.equal((await toldOf('request.joined', decided('Joined', 'anna', [PENDING, approved]))).length, 1)
  })

  it('when it is rejected', async () => {
    const rejected = { kind: 'RequestRejected', ...about, isExtension: false, isOver: false }
    assert.deepEqual(await toldOf('request.rejected', decided('Rejected', 'anna')), [rejected])
  })

  it('as one on an extension after the membership began', async () => {
    const joined: LifecycleEntry = { status: 'Joined', actorId: 'anna', at: WAITS }
    const request = decided('Rejected', 'anna', [PENDING, joined, PENDING])
    assert.deepEqual(await toldOf('request.rejected', request), [
      { kind: 'RequestRejected', ...about, isExtension: true, isOver: false },
    ])
  })

  it('as one on an extension of a membership that was granted directly', async () => {
    const added: LifecycleEntry = { status: 'Joined', actorId: 'writer', at: SUBMITTED }
    const rejected: LifecycleEntry = { status: 'Rejected', actorId: 'anna', at: LATER }
    const request = requestIn('Joined', { requesterId: 'ola', lifecycle: [added, PENDING, rejected] })
    const [item] = await toldOf('request.rejected', request)
    assert.deepEqual(item, { kind: 'RequestRejected', ...about, isExtension: true, isOver: false })
  })

  it('with the end of the membership where that has passed before an extension is decided', async () => {
    const joined: LifecycleEntry = { status: 'Joined', actorId: 'anna', at: WAITS }
    for (const [endsAt, isOver] of [
      [WAITS, true],
      [LATER, true],
      ['2030-01-01T12:00:00.001+00:00', false],
    ] as const) {
      const extended = (status: 'Rejected' | 'Cancelled', actorId: string) => {
        return { ...decided(status, actorId, [joined, PENDING]), status: 'Joined' as const, endsAt }
      }
      const about = { collectionName: 'Choir', path: '/me', isExtension: true, isOver }
      const rejected = await toldOf('request.rejected', extended('Rejected', 'anna'))
      assert.deepEqual(rejected, [{ kind: 'RequestRejected', ...about }])
      const cancelled = await toldOf('request.cancelled', extended('Cancelled', 'system'), 'system')
      assert.deepEqual(cancelled, [{ kind: 'RequestCancelled', ...about, reason: 'NotDecided' }])
    }
  })

  it('when the service cancels it, and not when a person does', async () => {
    const cancelled = { kind: 'RequestCancelled', ...about, isExtension: false, isOver: false, reason: 'NotDecided' }
    assert.deepEqual(await toldOf('request.cancelled', decided('Cancelled', 'system'), 'system'), [cancelled])
    assert.deepEqual(await toldOf('request.cancelled', decided('Cancelled', 'anna')), [])
  })

  it('not when the service cancels an extension since another record of the person lasts as long', async () => {
    const joined: LifecycleEntry = { status: 'Joined', actorId: 'anna', at: WAITS }
    const cancelled: LifecycleEntry = { status: 'Cancelled', actorId: 'system', at: LATER, notes: 'Merged' }
    const lifecycle = [REQUESTED, PENDING, joined, PENDING, cancelled]
    const request = requestIn('Joined', { requesterId: 'ola', lifecycle })
    assert.deepEqual(await toldOf('request.cancelled', request, 'system'), [])
  })

  it('to nobody when they took it themselves, as whoever they were then', async () => {
    assert.deepEqual(await toldOf('request.joined', decided('Joined', 'ola'), 'ola'), [])
    assert.deepEqual(await toldOf('request.joined', decided('Joined', 'ola')), [])
    assert.deepEqual(await toldOf('request.joined', decided('Joined', 'former'), 'ola'), [])
  })

  it('not when a membership comes back after its end', async () => {
    const left: LifecycleEntry = { status: 'Left', actorId: 'system', at: WAITS }
    assert.deepEqual(await toldOf('request.joined', decided('Joined', 'system', [left]), 'system'), [])
  })

  it('not when the membership has ended since', async () => {
    const left: LifecycleEntry = { status: 'Left', actorId: 'system', at: LATER }
    const { lifecycle, ...joined } = decided('Joined', 'anna')
    assert.deepEqual(await toldOf('request.joined', { ...joined, status: 'Left', lifecycle: [...lifecycle, left] }), [])
  })

  it('not when the lifecycle has no such entry of that time', async () => {
    const request = decided('Rejected', 'anna')
    assert.deepEqual(await toldOf('request.joined', request), [])
    assert.deepEqual((await lettersOf({ type: 'request.rejected', time: WAITS, request })).told, [])
    assert.deepEqual((await lettersOf({ type: 'request.left', time: LATER, request })).told, [])
  })

  it('by the last of equal entries', async () => {
    const before = [PENDING, { status: 'Rejected', actorId: 'ola', at: LATER } as const, PENDING]
    assert.equal((await toldOf('request.rejected', decided('Rejected', 'anna', before))).length, 1)
  })
})
