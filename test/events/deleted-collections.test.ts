import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { serviceDocument } from '../../functions/routes/service-document.ts'
import { sweepEvents } from '../../shared/domain/events/sweep-events.ts'
import { equals, OPEN } from '../support/api/joinable-fixture.ts'
import { eventFixture, receiver } from '../support/events/event-fixture.ts'

describe('The deletion of a collection', () => {
  for (const kind of ['joinable', 'criteria'] as const) {
    it(`is told once for all members, also those that were not told of (${kind})`, async () => {
      const fixture = await eventFixture()
      const hook = await receiver()
      await fixture.subscribe(hook.url, ['collection.deleted', 'member.*', 'members.changed'])
      const [ola, kari] = [await fixture.person(['User'], { displayName: 'Ola' }), await fixture.person()]
      const isJoinable = kind === 'joinable'
      const collectionId = isJoinable
        ? await fixture.joinable(OPEN)
        : await fixture.criteria('Identity', equals('identityDisplayName', 'Ola'))
      if (isJoinable) await fixture.submit(ola, collectionId)
      await fixture.evaluator.evaluate(fixture.tenantId)
      await fixture.drain()
      assert.deepEqual(hook.types(), ['member.added'])
      if (isJoinable) await fixture.submit(kari, collectionId)
      const path = `/collections-${kind}/beta/${collectionId}`
      assert.equal((await fixture.call(fixture.admin, 'DELETE', path)).status, 200)
      await fixture.drain()
      await sweepEvents(fixture.tenantId, fixture.service.events)
      await fixture.drain()
      assert.deepEqual(hook.types(), ['member.added', 'collection.deleted'])
    })
  }

  it('is described so to receivers', () => {
    const { webhooks } = serviceDocument() as { webhooks: Readonly<Record<string, { post: { summary: string } }>> }
    assert.match(
      webhooks['collection.deleted']?.post.summary ?? '',
      /with all members; no `member\.removed` tells of them/,
    )
  })
})
