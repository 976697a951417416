import { setTimeout as sleep } from 'node:timers/promises'
import { assertConforming } from '../http/conformity.ts'
import type { StartedEnvironment } from './started-environment.ts'

/** The envelope of a response, with its status. */
export type ApiReply<Data> = {
  readonly status: number
  readonly headers: Headers
  readonly json: {
    readonly data: Data
    readonly errors: readonly { readonly code: string; readonly message: string; readonly target?: string }[]
    readonly nextCursor?: string
  }
}

/** `Data` is the type of a successful response's data. Each response must conform to the API description. */
export type ApiClient = <Data>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Record<string, string>,
) => Promise<ApiReply<Data>>

/** Calls the API with a token, or without one. */
export function apiClient({ apiUrl }: StartedEnvironment, token: string | undefined): ApiClient {
  return async (method, path, body, headers = {}) => {
    const response = await fetch(`${apiUrl}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const { status, headers: answered } = response
    assertConforming(method, path, { status, headers: Object.fromEntries(answered), body: text })
    return { status, headers: answered, json: JSON.parse(text) }
  }
}

/** The API as an application of a demo tenant. */
export async function asApplication(
  environment: StartedEnvironment,
  name: string,
  tenantIndex = 0,
): Promise<ApiClient> {
  return apiClient(environment, await applicationToken(environment, name, environment.demo.scope, tenantIndex))
}

/** The API as a person of a demo tenant. */
export async function asPerson(environment: StartedEnvironment, name: string, tenantIndex = 0): Promise<ApiClient> {
  return apiClient(environment, await personToken(environment, name, tenantIndex))
}

export async function personToken(environment: StartedEnvironment, name: string, tenantIndex = 0): Promise<string> {
  const { demo } = environment
  const tenant = demo.tenants[tenantIndex]
  const person = tenant?.people.find((known) => known.name === name)
  if (tenant === undefined || person === undefined) throw new Error(`There is no demo person ${name}`)
  return tokenBy(environment, tenant.tenantId, {
    grant_type: 'password',
    client_id: demo.publicClientId,
    username: person.username,
    password: person.password,
    scope: demo.scope,
  })
}

export async function applicationToken(
  environment: StartedEnvironment,
  name: string,
  scope: string,
  tenantIndex = 0,
): Promise<string> {
  const tenant = environment.demo.tenants[tenantIndex]
  const app = tenant?.apps.find((known) => known.name === name)
  if (tenant === undefined || app === undefined) throw new Error(`There is no demo application ${name}`)
  return tokenBy(environment, tenant.tenantId, {
    grant_type: 'client_credentials',
    client_id: app.clientId,
    client_secret: app.clientSecret,
    scope,
  })
}

async function tokenBy(
  environment: StartedEnvironment,
  tenantId: string,
  form: Record<string, string>,
): Promise<string> {
  const { status, json } = await environment.directory('POST', `/${tenantId}/oauth2/v2.0/token`, { form })
  if (status !== 200) throw new Error(`No token: ${JSON.stringify(json)}`)
  return (json as { access_token: string }).access_token
}

/** Ids of the user members of a group, read from the directory itself. */
export async function groupMembers(
  environment: StartedEnvironment,
  groupId: string,
  tenantIndex = 0,
): Promise<string[]> {
  const token = await applicationToken(environment, 'tester', 'https://graph.microsoft.com/.default', tenantIndex)
  const ids: string[] = []
  let path: string | undefined = `/v1.0/groups/${groupId}/members?$top=999`
  while (path !== undefined) {
    const { status, json } = await environment.directory('GET', path, { token })
    if (status !== 200) throw new Error(`Reading group ${groupId}: ${JSON.stringify(json)}`)
    const page = json as { value: { id: string; '@odata.type': string }[]; '@odata.nextLink'?: string }
    ids.push(...page.value.filter((member) => member['@odata.type'] === '#microsoft.graph.user').map(({ id }) => id))
    path = page['@odata.nextLink']?.slice(environment.directoryUrl.length)
  }
  return ids.sort()
}

/** The properties of a listed core object that tests read. */
export type ListedObject = {
  readonly id: string
  readonly externalId: string
  readonly title?: string
  readonly directoryObjectId?: string
  readonly identity?: { readonly objectId: string }
}

/** Every object of a core object list, page after page. */
export async function everyCoreObject(
  api: ApiClient,
  list: 'identities' | 'orgunits' | 'relationships',
): Promise<ListedObject[]> {
  const all: ListedObject[] = []
  let query = 'pageSize=37'
  for (;;) {
    const { status, json } = await api<ListedObject[]>('GET', `/iamcore/beta/sync/coreobjects/${list}?${query}`)
    if (status !== 200) throw new Error(`Listing ${list}: ${JSON.stringify(json)}`)
    all.push(...json.data)
    if (json.nextCursor === undefined) return all
    query = `nextCursor=${encodeURIComponent(json.nextCursor)}`
  }
}

/** Polls until a value is found. */
export async function eventually<T>(what: string, look: () => Promise<T | undefined>, atMostMs = 20_000): Promise<T> {
  const endMs = performance.now() + atMostMs
  for (;;) {
    const seen = await look()
    if (seen !== undefined) return seen
    if (performance.now() > endMs) throw new Error(`Waited ${atMostMs} ms in vain: ${what}`)
    await sleep(50)
  }
}
