import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { cosmosOutbox, cosmosOutboxStore } from '../../shared/cosmos/events/outbox.ts'
import { cosmosLinkStore } from '../../shared/cosmos/links/link-store.ts'
import { eventsOfLinkAction, eventsOfLinkChange, withPauseTold } from '../../shared/domain/events/change-events.ts'
import type { EventDraft } from '../../shared/domain/events/event-types.ts'
import { type GroupLink, newLink } from '../../shared/domain/group-links/group-link.ts'
import type { HeldRemovals } from '../../shared/domain/group-links/removal-plan.ts'
import { faultLog } from '../support/api/built-service.ts'
import { localDatabase } from '../support/contract/local-database.ts'

const NOW_MS = Date.parse('2030-01-01T00:00:00Z')
const IDS = { collectionId: randomUUID(), directoryGroupId: randomUUID() }
const LINK = newLink({ id: randomUUID(), tenantId: randomUUID(), directoryGroupDisplayName: null, ...IDS }, NOW_MS)
const failed: GroupLink = { ...LINK, lastSyncOutcome: 'Failed', lastSyncError: 'No group' }
const succeeded: GroupLink = { ...LINK, lastSyncOutcome: 'Succeeded', lastSyncError: null }
const holding = (planId: string): GroupLink => ({ ...LINK, heldRemovals: { planId } as HeldRemovals })

const types = (events: readonly EventDraft[]) => events.map(({ type }) => type)
const ids = { linkId: LINK.id, ...IDS, actorId: 'system' }

describe('A change of a group link tells', () => {
  for (const [claim, before, after, expected] of [
    ['of the first failure of a series', succeeded, failed, ['link.failed']],
    ['of a first sync that fails', LINK, failed, ['link.failed']],
    ['nothing of a further failure', failed, { ...failed, lastSyncError: 'Another' }, []],
    ['of a success after failures', failed, succeeded, ['link.recovered']],
    ['nothing of a first success', LINK, succeeded, []],
    ['of removals that are paused', LINK, withPauseTold({ ...LINK, skippedCount: 1 }), ['link.paused']],
    ['of removals that go on', { ...LINK, isPauseTold: true }, { ...LINK, isPauseTold: false }, ['link.resumed']],
    ['of held removals', LINK, holding('one'), ['removals.held']],
    ['nothing of removals that stay held', holding('one'), holding('one'), []],
    ['of other removals that are held', holding('one'), holding('two'), ['removals.held']],
    ['of removals that are held no more', holding('one'), LINK, ['removals.resolved']],
    [
      'of both at once',
      { ...holding('one'), lastSyncOutcome: 'Failed' },
      succeeded,
      ['link.recovered', 'removals.resolved'],
    ],
  ] as const)
    it(claim, () => {
      assert.deepEqual(types(eventsOfLinkChange(before, after, NOW_MS)), expected)
    })

  it('nothing of a pause while it is not known, or the link is disabled', () => {
    const paused: GroupLink = { ...LINK, isPauseTold: true }
    const told = (link: GroupLink) => withPauseTold(link).isPauseTold ?? false
    assert.deepEqual(
      [
        told({ ...paused, skippedCount: null }),
        told({ ...paused, skippedCount: 0, state: 'Disabled' }),
        told({ ...paused, skippedCount: 0 }),
        told({ ...LINK, skippedCount: null }),
      ],
      [true, true, false, false],
    )
  })

  it('the error of a failure and the ids of the link', () => {
    const [event] = eventsOfLinkChange(LINK, failed, NOW_MS)
    assert.deepEqual(event?.data, { ...ids, error: 'No group' })
  })

  it('the plan of removals', () => {
    const audit = { id: 'audit', tenantId: LINK.tenantId, subject: IDS.collectionId, at: 'now', actorId: 'somebody' }
    const [event] = eventsOfLinkAction(LINK, {
      ...audit,
      linkId: LINK.id,
      action: 'RemovalsApproved',
      before: {},
      after: { planId: 'one' },
    })
    assert.deepEqual([event?.type, event?.data], ['removals.approved', { ...ids, planId: 'one', actorId: 'somebody' }])
  })
})

describe('The store of links', () => {
  it('writes what a change tells in its transaction: none of a write that is refused', async () => {
    const container = await localDatabase()
    const messageQueue = { enqueue: async () => undefined }
    const outbox = cosmosOutbox({ isWanted: async () => true, messageQueue, log: faultLog(), newId: randomUUID })
    const links = cosmosLinkStore(container('links'), outbox, () => NOW_MS)
    const { value, version } = await links.add(LINK)
    const entries = () => cosmosOutboxStore(container, () => NOW_MS).first('links', LINK.tenantId)
    await assert.rejects(links.replace(failed, '"stale"', undefined, value), { code: 'StaleVersion' })
    assert.deepEqual(await entries(), [])
    await links.replace(failed, version, undefined, value)
    const [entry] = await entries()
    assert.deepEqual(
      entry?.events.map(({ type, data }) => [type, data.error]),
      [['link.failed', 'No group']],
    )
    assert.equal((await links.ofTenant(LINK.tenantId)).length, 1)
  })
})
