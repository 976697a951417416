import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serviceDocument } from '../../functions/routes/service-document.ts'
import {
  eventsOfCollection,
  eventsOfLinkAction,
  eventsOfLinkChange,
  eventsOfRequest,
} from '../../shared/domain/events/change-events.ts'
import { CONTROL_EVENTS, cloudEvent, EVENTS, type EventDraft, eventOf } from '../../shared/domain/events/event-types.ts'
import { eventsOfMembers } from '../../shared/domain/events/member-events.ts'
import { type GroupLink, newLink } from '../../shared/domain/group-links/group-link.ts'
import type { HeldRemovals } from '../../shared/domain/group-links/removal-plan.ts'
import { AUDIT_ACTIONS, type AuditRecord } from '../../shared/domain/history/audit.ts'
import { REQUEST_STATUSES } from '../../shared/domain/membership-requests/membership-request.ts'
import { requestIn } from '../support/domain/membership-requests/requests.ts'
import { assertDescribed, type Received } from '../support/events/described-events.ts'

const ID = '11111111-1111-4111-8111-111111111111'
const AT_MS = Date.parse('2030-01-01T00:00:00Z')
const AT = '2030-01-01T00:00:00.000+00:00'

type Webhook = { readonly post: { readonly requestBody: { readonly content: Content } } }
type Content = Readonly<Record<string, { readonly example: Received }>>
const { webhooks } = serviceDocument() as { webhooks: Readonly<Record<string, Webhook>> }

/** What all records tell, one event of each kind at least. */
function allDrafts(): readonly EventDraft[] {
  const ids = { id: ID, tenantId: ID, collectionId: ID, directoryGroupId: ID }
  const link: GroupLink = newLink({ ...ids, directoryGroupDisplayName: null }, AT_MS)
  const changed: GroupLink = { ...link, lastSyncOutcome: 'Failed', isPauseTold: true }
  const holding: GroupLink = { ...changed, heldRemovals: { planId: ID } as HeldRemovals }
  const succeeded: GroupLink = { ...link, lastSyncOutcome: 'Succeeded' }
  const audits = AUDIT_ACTIONS.map((action): AuditRecord => {
    const of = { id: ID, tenantId: ID, subject: ID, at: AT, actorId: ID, linkId: null }
    return { ...of, action, before: {}, after: { planId: ID } }
  })
  const collection = { id: ID, kind: 'criteria', objectType: 'Identity' } as const
  const members = { membershipVersion: 1, atMs: AT_MS, addedCount: 1, removedCount: 1 }
  const changes = [{ cause: 'ObjectChanged', actorId: 'system', added: [ID], removed: [ID] }] as const
  const lifecycle = REQUEST_STATUSES.map((status) => ({ status, actorId: ID, at: AT }))
  const told = { endingTold: { endsAt: AT, at: AT }, reminder: { days: 1, dueAtMs: AT_MS, lastAt: AT } }
  return [
    ...audits.flatMap((audit) => [...eventsOfCollection(audit), ...eventsOfLinkAction(link, audit)]),
    ...eventsOfLinkChange(link, holding, AT_MS),
    ...eventsOfLinkChange(holding, succeeded, AT_MS),
    ...eventsOfMembers({ ...members, changes }, collection),
    ...eventsOfMembers({ ...members, addedCount: 1_001, changes: [] }, collection),
    ...eventsOfRequest({ after: requestIn('Left', { id: ID, collectionId: ID, lifecycle, ...told }) }),
  ]
}

describe('The API description', () => {
  it('has every type of event, each with an example that fits its schema', () => {
    assert.deepEqual(Object.keys(webhooks).sort(), Object.keys({ ...EVENTS, ...CONTROL_EVENTS }).sort())
    for (const [type, { post }] of Object.entries(webhooks)) {
      const example = post.requestBody.content['application/cloudevents+json']?.example
      assert.equal(example?.type, type)
      assertDescribed(example)
    }
  })

  it('fits what members, collections, requests and links tell', () => {
    const drafts = allDrafts()
    for (const draft of drafts) {
      assertDescribed(
        cloudEvent(
          ID,
          eventOf(draft, ID, () => ID),
        ),
      )
    }
    const told = new Set<string>(drafts.map(({ type }) => type))
    const others = Object.keys(EVENTS).filter((type) => !told.has(type))
    // Those have tests through the service.
    assert.deepEqual(others.sort(), ['connector.late', 'connector.recovered', 'subscription.disabled'])
  })
})
