import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { InvocationContext } from '@azure/functions'
import { SpanKind, SpanStatusCode } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { observedMessage } from '../../functions/app/invocations.ts'
import { groupLinkRoutes } from '../../functions/routes/group-link.ts'
import { syncIncrementally } from '../../shared/domain/sync/incremental-sync.ts'
import { runSyncJob } from '../../shared/domain/sync/run-sync-job.ts'
import { observedCalls } from '../../shared/graph/observed-calls.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import type { Message, MessageQueue } from '../../shared/kernel/messages.ts'
import { NO_METRICS } from '../../shared/kernel/metrics.ts'
import { inInvocation, inSpan, messageProperties } from '../../shared/kernel/tracing.ts'
import { conformingDispatcher } from '../support/http/conformity.ts'
import { idempotencyOn } from '../support/http/idempotency-dependencies.ts'
import { TENANT, user, users } from '../support/jobs/link-directory.ts'
import { type LinkFixture, openFixture } from '../support/jobs/link-fixture.ts'
import { recordedTelemetry } from '../support/telemetry/recorded.ts'

type Sent = { readonly message: Message; readonly properties: Record<string, string | number> }

describe('The spans of a sync', () => {
  const telemetry = recordedTelemetry()
  const sent: Sent[] = []
  let fixture: LinkFixture
  let deps: LinkFixture['deps']

  before(async () => {
    fixture = await openFixture()
    const directory = fixture.directoryOver((send) => observedCalls(send, NO_METRICS))
    deps = { ...fixture.deps, directory, messageQueue: recordedMessages(sent) }
  })
  after(async () => {
    await fixture.close()
    await telemetry.close()
  })
  beforeEach(() => {
    sent.length = 0
    telemetry.clear()
  })

  /** Every message that was sent, and those that are sent while it is handled, as its function handles it. */
  async function handleAll(): Promise<void> {
    for (let next = sent.shift(); next !== undefined; next = sent.shift()) {
      const { queue, message } = next.message
      const start = {
        name: `process ${queue}`,
        kind: SpanKind.CONSUMER,
        sender: next.properties,
        nowMs: 1_000,
      } as const
      await inInvocation(start, async () => {
        if (queue === 'sync-jobs') await runSyncJob(message, deps)
        if (queue === 'membership-changes') await syncIncrementally(message, deps)
      })
    }
  }

  async function syncedLink(): Promise<{ collectionId: string; groupId: string }> {
    const linked = await fixture.linked(users(0, 5))
    await fixture.drain()
    telemetry.clear()
    return linked
  }

  const named = (name: string): ReadableSpan => {
    const found = telemetry.spans().find((span) => span.name === name)
    assert.ok(found, `${name} among ${telemetry.spans().map((span) => span.name)}`)
    return found
  }

  const assertChain = (...names: string[]) => {
    for (const [index, name] of names.entries()) {
      if (index === 0) continue
      const [parent, child] = [named(names[index - 1] ?? ''), named(name)]
      assert.equal(child.parentSpanContext?.spanId, parent.spanContext().spanId, `${name} in ${parent.name}`)
      assert.equal(child.spanContext().traceId, parent.spanContext().traceId)
    }
  }

  it('lead from the request of a member to the write', async () => {
    const { collectionId } = await syncedLink()
    await inInvocation(request('submitRequest'), async () => {
      fixture.collections.change(collectionId, users(0, 6))
      await deps.messageQueue.enqueue(
        { queue: 'membership-changes', message: { tenantId: TENANT, collectionId } },
        { id: `join ${collectionId}` },
      )
    })
    await handleAll()
    assertChain('submitRequest', 'send membership-changes', 'process membership-changes', 'PATCH /groups/{id}')
    const write = named('PATCH /groups/{id}')
    assert.equal(write.kind, SpanKind.CLIENT)
    assert.deepEqual(write.attributes, {
      'http.request.method': 'PATCH',
      'http.response.status_code': 204,
      'tenant.id': TENANT,
    })
  })

  it('lead from the request of a sync to every call of its job', async () => {
    const { collectionId } = await syncedLink()
    fixture.collections.change(collectionId, users(3, 5))
    const dispatch = conformingDispatcher(groupLinkRoutes(deps), {
      ...deps,
      authenticate: async () => writer,
      admit: () => undefined,
      findIdentity: async () => undefined,
      idempotency: idempotencyOn(fixture.container('idempotencyKeys'), deps.nowMs, deps.log),
    })
    const url = `/group-link/beta/group-links/${collectionId}/sync`
    await inInvocation(request('POST'), () => dispatch(post(url)))
    await handleAll()
    const operation = named('syncCollection')
    assert.equal(operation.attributes['http.route'], '/group-link/beta/group-links/{collectionId}/sync')
    assert.equal(operation.attributes['tenant.id'], TENANT)
    for (const call of ['GET /groups/{id}', 'GET /groups/{id}/members', 'POST /$batch']) {
      assertChain('syncCollection', 'send sync-jobs', 'process sync-jobs', call)
    }
    const batch = named('POST /$batch')
    assert.equal(batch.attributes['graph.batch.item_count'], 3)
    assert.equal(batch.attributes['graph.batch.item_operation'], 'DELETE /groups/{id}/members/{id}/$ref')
  })

  it('contain no account id and no group id', async () => {
    const { collectionId, groupId } = await syncedLink()
    fixture.collections.change(collectionId, users(3, 5))
    const message = { tenantId: TENANT, collectionId }
    await deps.messageQueue.enqueue({ queue: 'membership-changes', message }, { id: `names ${collectionId}` })
    await handleAll()
    const recorded = JSON.stringify(telemetry.spans().map(({ name, attributes }) => ({ name, attributes })))
    assert.match(recorded, /\$batch/)
    for (const id of [groupId, ...users(0, 8)]) assert.ok(!recorded.includes(id), `${id} in ${recorded}`)
  })

  it('have an error status when the directory refuses a call', async () => {
    const { collectionId } = await syncedLink()
    fixture.collections.change(collectionId, users(0, 6))
    fixture.server.setFaults([{ method: 'PATCH', path: '/groups/', status: 503, times: 1 }])
    const message = { tenantId: TENANT, collectionId }
    await deps.messageQueue.enqueue({ queue: 'membership-changes', message }, { id: `fails ${collectionId}` })
    await handleAll()
    const statuses = telemetry.spans().filter(({ name }) => name === 'PATCH /groups/{id}')
    assert.deepEqual(
      statuses.map(({ attributes, status }) => [attributes['http.response.status_code'], status.code]),
      [
        [503, SpanStatusCode.ERROR],
        [204, SpanStatusCode.UNSET],
      ],
    )
  })

  it('have an error status when a message is postponed, which is a warning in the log', async () => {
    const events: unknown[][] = []
    const log = { ...deps.log, warn: (...event: unknown[]) => void events.push(event) }
    const handler = { accepts: () => true, handle: () => Promise.reject(new Error('The database is away')) }
    const context = { functionName: 'sweep-tenant', triggerMetadata: { messageId: 'm1', deliveryCount: 1 } }
    const service = { ...fixture.newService(), log }
    await observedMessage('sweeps', { tenantId: TENANT }, context as unknown as InvocationContext, handler, service)
    assert.equal(named('process sweeps').status.code, SpanStatusCode.ERROR)
    const [[event, details] = []] = events
    const { reason } = details as { reason?: string }
    assert.deepEqual([event, reason], ['message.postponed', 'The database is away'])
  })

  it('contain the name of an error and not its message', async () => {
    await assert.rejects(inInvocation(request('fails'), () => Promise.reject(new RangeError('of Jane Doe'))))
    const { attributes, status, events } = named('fails')
    assert.deepEqual([attributes['error.type'], status.code, events], ['RangeError', SpanStatusCode.ERROR, []])
    assert.equal(status.message, undefined)
  })
})

const writer: Caller = {
  kind: 'application',
  tenantId: TENANT,
  objectId: user(0),
  clientId: user(1),
  roles: new Set(['collections-criteria.criteria.readwrite.all']),
}

const request = (name: string) => ({ name, kind: SpanKind.SERVER, nowMs: 1_000 }) as const

const post = (url: string) => ({
  method: 'POST',
  url,
  header: (name: string) => (name === 'content-type' ? 'application/json' : null),
  bytes: async () => new Uint8Array(),
})

/** Records each message with the properties that a real message has after its way over the wire. */
function recordedMessages(sent: Sent[]): MessageQueue {
  return {
    enqueue: (message) =>
      inSpan(`send ${message.queue}`, { kind: SpanKind.PRODUCER }, async () => {
        const properties = JSON.parse(JSON.stringify(messageProperties()))
        sent.push({ message, properties })
      }),
  }
}
