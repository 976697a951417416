import type { DirectoryStarted } from './server-process.ts'
import type { SoakTenant } from './soak-tenant.ts'

/**
 * Tokens of the callers of a run, signed by the local directory. Valid for longer than any run, for clocks that are
 * apart.
 */
export type Callers = {
  /** Reads and writes collections and links. */
  readonly writer: string
  /** Delivers the data of the sources. */
  readonly connector: string
  /** Manages connectors, and reads all core objects. */
  readonly operator: string
  /** A user who changes the settings of links. */
  readonly administrator: string
  /** A user who erases the data of people. */
  readonly coreAdministrator: string
  /** A person with an account. */
  person(account: string): Promise<string>
  /** Changes members of groups in the directory by hand. */
  tester(): Promise<string>
}

const DAY_S = 24 * 60 * 60

export async function soakCallers(tenant: SoakTenant, directory: DirectoryStarted): Promise<Callers> {
  const sign = async (claims: Readonly<Record<string, unknown>>): Promise<string> => {
    const nowS = Math.floor(Date.now() / 1000)
    const common = {
      aud: tenant.serviceClientId,
      iss: `${directory.url}/${tenant.tenantId}/v2.0`,
      tid: tenant.tenantId,
      ver: '2.0',
      iat: nowS - DAY_S,
      nbf: nowS - DAY_S,
      exp: nowS + 300 * DAY_S,
    }
    const body = JSON.stringify({ claims: { ...common, ...claims }, key: 'current' })
    const response = await fetch(`${directory.url}/local/tokens`, { method: 'POST', body })
    if (!response.ok) throw new Error(`No token: ${await response.text()}`)
    return ((await response.json()) as { token: string }).token
  }
  const application = (clientId: string, roles: readonly string[]) =>
    sign({ idtyp: 'app', oid: clientId, sub: clientId, azp: clientId, roles })
  const user = (account: string, roles: readonly string[]) =>
    sign({ oid: account, sub: `sub-${account}`, scp: 'user_impersonation', roles })
  const [writer, connector, operator, administrator, coreAdministrator] = await Promise.all([
    application(tenant.testerClientId, ['collections-criteria.criteria.readwrite.all']),
    application(tenant.connectorClientId, ['iam-core.connector-data.readwrite.self']),
    application(tenant.testerClientId, [
      'iam-core.connector-configuration.readwrite.all',
      'iam-core.synchronization-configuration.readwrite.all',
    ]),
    user(tenant.strangers[0] ?? '', ['collection_criteria_definition-administrator']),
    user(tenant.strangers[1] ?? '', ['Administrator']),
  ])
  const people = new Map<string, Promise<string>>()
  return {
    writer,
    connector,
    operator,
    administrator,
    coreAdministrator,
    person(account) {
      const known = people.get(account) ?? user(account, ['User'])
      people.set(account, known)
      return known
    },
    async tester() {
      const response = await fetch(`${directory.url}/${tenant.tenantId}/oauth2/v2.0/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: tenant.testerClientId,
          client_secret: tenant.testerSecret,
          scope: 'https://graph.microsoft.com/.default',
        }),
      })
      if (!response.ok) throw new Error(`No token: ${await response.text()}`)
      return ((await response.json()) as { access_token: string }).access_token
    },
  }
}
