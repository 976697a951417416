import type { DemoAnswer } from '../../../infra/local/directory/seed.ts'
import type { Environment } from '../../../infra/local/environment.ts'

const GRAPH_SCOPE = 'https://graph.microsoft.com/.default'

/** Answers the body of a success, and throws otherwise. */
export type Client = <Answer>(method: string, path: string, body?: unknown) => Promise<Answer>

/** The first demo tenant's callers. */
export type Clients = {
  readonly tenantId: string
  readonly writer: Client
  readonly reader: Client
  readonly connector: Client
  readonly operator: Client
  newGroup(index: number): Promise<string>
}

export async function clientsOf({ apiUrl, directoryUrl }: Environment): Promise<Clients> {
  const demo = (await (await fetch(`${directoryUrl}/local/demo`)).json()) as DemoAnswer
  const [tenant] = demo.tenants
  if (tenant === undefined) throw new Error('There is no demo tenant')
  const tokenOf = async (form: Record<string, string>) => {
    const url = `${directoryUrl}/${tenant.tenantId}/oauth2/v2.0/token`
    const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(form) })
    return ((await answer.json()) as { access_token: string }).access_token
  }
  const client =
    (baseUrl: string, token: string): Client =>
    async (method, path, body) => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
      const answer = await fetch(`${baseUrl}${path}`, init)
      const text = await answer.text()
      if (!answer.ok) throw new Error(`${method} ${path} was answered ${answer.status}: ${text}`)
      return JSON.parse(text)
    }
  const application = async (name: string, baseUrl = apiUrl, scope = demo.scope) => {
    const app = tenant.apps.find((known) => known.name === name)
    if (app === undefined) throw new Error(`There is no demo application ${name}`)
    const secret = { client_id: app.clientId, client_secret: app.clientSecret }
    return client(baseUrl, await tokenOf({ grant_type: 'client_credentials', ...secret, scope }))
  }
  const person = async (name: string) => {
    const known = tenant.people.find((candidate) => candidate.name === name)
    if (known === undefined) throw new Error(`There is no demo person ${name}`)
    const { username, password } = known
    const form = { grant_type: 'password', client_id: demo.publicClientId, username, password, scope: demo.scope }
    return client(apiUrl, await tokenOf(form))
  }
  const tester = await application('tester', directoryUrl, GRAPH_SCOPE)
  return {
    tenantId: tenant.tenantId,
    writer: await application('writer'),
    connector: await application('connector'),
    operator: await application('operator'),
    reader: await person('coreAdmin'),
    async newGroup(index) {
      const kind = { groupTypes: [], mailEnabled: false, securityEnabled: true }
      const names = { displayName: `Scale ${index}`, mailNickname: `scale${index}` }
      return (await tester<{ id: string }>('POST', '/v1.0/groups', { ...names, ...kind })).id
    },
  }
}
