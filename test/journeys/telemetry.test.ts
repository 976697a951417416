import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { SyncJobDto } from '../../shared/domain/group-links/sync-job.ts'
import {
  type ApiClient,
  apiClient,
  asApplication,
  asPerson,
  eventually,
  everyCoreObject,
  groupMembers,
} from '../support/journeys/demo-clients.ts'
import { newDataFolder, type StartedEnvironment, startedEnvironment } from '../support/journeys/started-environment.ts'
import {
  type Envelope,
  type IngestionEndpoint,
  startIngestionEndpoint,
} from '../support/telemetry/ingestion-endpoint.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const CALLERS_SPAN_ID = 'b7ad6b7169203331'
const TRACEPARENT = `00-${TRACE_ID}-${CALLERS_SPAN_ID}-00`
const REQUEST_ID = 'the-request-that-joins'
const SUBMIT = '/collections-joinable/beta/membership-requests/{collectionId}/submit'

/** Text that only a body contains. */
const BODY_TEXT = 'I took the course in Reykjavik'

type Line = { readonly event: string; readonly [detail: string]: unknown }

describe('the telemetry of the service', () => {
  let ingestion: IngestionEndpoint
  let environment: StartedEnvironment
  let names: readonly string[]
  let tenantId: string
  let collectionId: string
  let groupId: string
  const opened: (() => Promise<unknown>)[] = []
  const said: Line[] = []
  const telemetry: Envelope[] = []

  /** A join that goes through to the directory, a few refusals, and the end of the service. */
  before(async () => {
    const dataFolder = newDataFolder()
    ingestion = await startIngestionEndpoint(dataFolder)
    opened.push(() => ingestion.close())
    environment = await startedEnvironment(dataFolder, {
      LOG_LEVEL: 'info',
      APPLICATIONINSIGHTS_CONNECTION_STRING: ingestion.connectionString,
      // The exporter's reports about itself would leave the machine.
      APPLICATION_INSIGHTS_NO_STATSBEAT: '1',
      HTTPS_PROXY: 'http://127.0.0.1:9',
      NO_PROXY: '127.0.0.1,localhost',
    })
    opened.push(() => environment.stop('SIGKILL'))
    const [tenant] = environment.demo.tenants
    tenantId = tenant?.tenantId ?? ''
    groupId = tenant?.groups.find(({ kind }) => kind === 'security')?.id ?? ''
    const people = await everyCoreObject(await asPerson(environment, 'coreAdmin'), 'identities')
    names = people.flatMap((person) => Object.entries(person)).flatMap(nameOf)
    collectionId = await linkedCollection(await asApplication(environment, 'writer'), groupId)
    // The first sync enqueues a message for changes during it: it must not be the one that finds the join.
    await eventually('the first look for changes', async () =>
      linesOf(environment.said()).some(isLookForChanges) ? true : undefined,
    )
    await join(await asPerson(environment, 'employee'), collectionId)
    await eventually('the member in the group', async () =>
      (await groupMembers(environment, groupId)).length === 1 ? true : undefined,
    )
    await refusals(environment)
    await environment.stop()
    said.push(...linesOf(environment.said()))
    telemetry.push(...ingestion.envelopes)
  })
  after(async () => {
    for (const close of opened.reverse()) await close()
  })

  const spans = () =>
    telemetry
      .filter(({ tags, data }) => tags['ai.operation.id'] === TRACE_ID && data.baseType !== 'MetricData')
      .map(({ tags, data: { baseData } }) => ({ ...baseData, parentId: tags['ai.operation.parentId'] }))

  it('has one trace from the request through the message to the write', () => {
    let parentId: string | undefined = CALLERS_SPAN_ID
    const steps = [`POST ${SUBMIT}`, 'send membership-changes', 'process membership-changes', 'PATCH /groups/{id}']
    for (const step of steps) {
      const span = spans().find(({ name }) => name === step)
      assert.equal(span?.parentId, parentId, `${step} among ${JSON.stringify(spans(), null, 1)}`)
      parentId = span?.id
    }
  })

  it('has the operation, the tenant and the outcome on the span of a request', () => {
    const [request] = spans().filter(({ name }) => name === `POST ${SUBMIT}`)
    assert.deepEqual(request?.properties?.['operation.id'], 'submitRequest')
    assert.deepEqual(request?.properties?.['tenant.id'], tenantId)
    assert.deepEqual(request?.properties?.['request.id'], REQUEST_ID)
  })

  it('has metrics of the requests, the change, the job and the evaluations', () => {
    const measured = telemetry.flatMap(({ data }) => data.baseData.metrics ?? []).map(({ name }) => name)
    const expected = [
      'evaluation.duration',
      'http.server.request.duration',
      'members.added',
      'sync.change.latency',
      'sync.job.duration',
      'sync.jobs',
    ]
    assert.deepEqual([...new Set(measured)].filter((name) => expected.includes(name)).sort(), expected)
    const [latency] = telemetry.flatMap(({ data }) => data.baseData.metrics ?? []).filter(isLatency)
    assert.equal(latency?.count, 1)
    assert.ok(latency.value > 0 && latency.value < 20_000, `${latency.value} ms`)
  })

  it('has a log line for every request with caller, operation and outcome', () => {
    const answered = said.filter(({ event }) => event === 'http.completed')
    assert.ok(answered.length > 10, `${answered.length} lines`)
    for (const line of answered) {
      for (const detail of ['requestId', 'traceId', 'operationId', 'route', 'method', 'status', 'durationMs']) {
        assert.notEqual(line[detail], undefined, `${detail} of ${JSON.stringify(line)}`)
      }
      if (line.status === 401) continue
      assert.notEqual(line.callerId, undefined, JSON.stringify(line))
      assert.notEqual(line.tenantId, undefined, JSON.stringify(line))
    }
    const [joined] = answered.filter(({ requestId }) => requestId === REQUEST_ID)
    assert.deepEqual([joined?.traceId, joined?.tenantId, joined?.status], [TRACE_ID, tenantId, 201])
  })

  it('has the ids of the trace in every log line', () => {
    const lines = said.filter(({ event }) => !event.startsWith('telemetry.'))
    assert.ok(new Set(lines.map(({ event }) => event)).size > 4)
    for (const line of lines) {
      assert.match(String(line.traceId), /^[0-9a-f]{32}$/, JSON.stringify(line))
      const hasPlace = ['operationId', 'queue'].some((detail) => line[detail] !== undefined)
      assert.ok(hasPlace || line.event.startsWith('sweep.'), JSON.stringify(line))
    }
    const [applied] = said.filter(({ event }) => event === 'link.changes-applied')
    assert.deepEqual([applied?.traceId, applied?.collectionId], [TRACE_ID, collectionId])
    assert.deepEqual(
      said.filter(({ event }) => event.startsWith('telemetry.')),
      [],
    )
  })

  it('contains no token, no body and no name', () => {
    assert.ok(names.length > 100)
    for (const text of [...said, ...telemetry].map((told) => JSON.stringify(told))) {
      assert.doesNotMatch(text, /eyJ[\w-]{10,}/, 'a token')
      assert.ok(!text.includes('Reykjavik') && !text.includes('First aiders'), text)
      for (const name of names) assert.ok(!text.includes(name), `${name} in ${text}`)
    }
  })
})

const isLatency = ({ name }: { name: string }) => name === 'sync.change.latency'

const isLookForChanges = ({ event, queue }: Line) => event === 'message.handled' && queue === 'membership-changes'

/** Long enough not to be part of an ordinary word. */
function nameOf([attribute, value]: [string, unknown]): string[] {
  const isName = /name|mail/i.test(attribute) && typeof value === 'string' && value.length > 5
  return isName ? [value] : []
}

async function linkedCollection(writer: ApiClient, directoryGroupId: string): Promise<string> {
  const body = { objectType: 'Identity', name: 'First aiders', joinPolicy: { approvalRequired: false } }
  const collectionId = (await writer<string>('POST', '/collections-joinable/beta', body)).json.data
  await writer('POST', '/group-link/beta/group-links', { collectionId, directoryGroupId })
  await eventually('the first job', async () => {
    const { json } = await writer<SyncJobDto[]>('GET', `/group-link/beta/sync-jobs?collectionId=${collectionId}`)
    return json.data[0]?.status === 'Succeeded' ? true : undefined
  })
  return collectionId
}

async function join(employee: ApiClient, collectionId: string): Promise<void> {
  const path = SUBMIT.replace('{collectionId}', collectionId)
  const headers = { traceparent: TRACEPARENT, 'x-request-id': REQUEST_ID }
  const { status, json } = await employee('POST', path, { notes: BODY_TEXT }, headers)
  assert.equal(status, 201, JSON.stringify(json))
}

async function refusals(environment: StartedEnvironment): Promise<void> {
  const stranger = apiClient(environment, undefined)
  assert.equal((await stranger('GET', '/collections-joinable/beta')).status, 401)
  const employee = await asPerson(environment, 'employee')
  assert.equal((await employee('POST', '/collections-criteria/beta', { name: BODY_TEXT })).status, 403)
  const writer = await asApplication(environment, 'writer')
  assert.equal((await writer('POST', '/collections-criteria/beta', { name: BODY_TEXT })).status, 400)
  assert.equal((await writer('POST', '/collections-criteria/beta', BODY_TEXT)).status, 400)
}

function linesOf(output: string): Line[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('{"at"'))
    .map((line) => JSON.parse(line))
}
