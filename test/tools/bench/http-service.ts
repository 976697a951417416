import { startEnvironment } from '../../../infra/local/environment.ts'
import { readLocalOptions } from '../../../infra/local/options.ts'
import { startFixtureHost } from '../../support/local/host-fixtures/fixture-host.ts'

/** What this process serves. Sent to the parent process. */
export type ServedForMeasuring = {
  readonly emptyUrl: string
  readonly apiUrl: string
  readonly token: string
  /** Paths of collections that the token may read. */
  readonly paths: readonly string[]
}

/**
 * The process that `http.bench.ts` measures: the service as it is, on a host, and beside it a host of the same kind
 * with a function that does nothing. Usage: `node test/tools/bench/http-service.ts <data folder>`.
 */
const COLLECTION_COUNT = 100
const COLLECTIONS = '/collections-joinable/beta'

const environment = await startEnvironment(
  readLocalOptions({ PORT: '0', DIRECTORY_PORT: '0', DATA_DIR: process.argv[2] ?? '', DEMO_IDENTITIES: '0' }),
  () => undefined,
)
const empty = await startFixtureHost()
const token = await writersToken(environment.directoryUrl)
const paths = await Promise.all(Array.from({ length: COLLECTION_COUNT }, (_, index) => newCollection(index)))
const served: ServedForMeasuring = { emptyUrl: `${empty.url}/trivial`, apiUrl: environment.apiUrl, token, paths }
process.send?.(served)
process.once('disconnect', async () => {
  await empty.close()
  await environment.close()
})

async function writersToken(directoryUrl: string): Promise<string> {
  const demo = (await (await fetch(`${directoryUrl}/local/demo`)).json()) as {
    scope: string
    tenants: { tenantId: string; apps: { name: string; clientId: string; clientSecret: string }[] }[]
  }
  const [tenant] = demo.tenants
  const app = tenant?.apps.find(({ name }) => name === 'writer')
  if (tenant === undefined || app === undefined) throw new Error('The demo has no application that may write')
  const answer = await fetch(`${directoryUrl}/${tenant.tenantId}/oauth2/v2.0/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: app.clientId,
      client_secret: app.clientSecret,
      scope: demo.scope,
    }),
  })
  return ((await answer.json()) as { access_token: string }).access_token
}

async function newCollection(index: number): Promise<string> {
  const answer = await fetch(`${environment.apiUrl}${COLLECTIONS}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ objectType: 'Identity', name: `Choir ${index}`, joinPolicy: { approvalRequired: false } }),
  })
  if (answer.status !== 201) throw new Error(`The collection was refused: ${await answer.text()}`)
  return answer.headers.get('location') ?? ''
}
