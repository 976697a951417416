import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { CommandError } from '../command.ts'
import type { ClientCredentials } from './api-connection.ts'

/** The demo application that may write the objects of connectors. */
const APPLICATION = 'connector'
const TIMEOUT_MS = 10_000

export type LocalDirectory = {
  /** Base URL of the local directory, on the loopback interface. */
  readonly directoryUrl: string
  /** Data folder of the local environment. Its certificate authority is trusted by this process, if there is one. */
  readonly dataFolder: string
}

type Demo = {
  readonly scope: string
  readonly tenants: readonly {
    readonly tenantId: string
    readonly apps: readonly { readonly name: string; readonly clientId: string; readonly clientSecret: string }[]
  }[]
}

/** Whether the URL names this machine: `localhost`, 127.0.0.0/8 or ::1. */
export function isLoopback(url: string): boolean {
  const { hostname } = new URL(url)
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
}

/**
 * Reads the credentials of the demo application `connector` from the local directory.
 * @throws CommandError if there is no local directory at the URL
 */
export async function demoCredentials({ directoryUrl, dataFolder }: LocalDirectory): Promise<ClientCredentials> {
  trustAuthorityOf(dataFolder)
  const url = `${directoryUrl}/local/demo`
  try {
    const response = await fetch(url, { redirect: 'error', signal: AbortSignal.timeout(TIMEOUT_MS) })
    const { scope, tenants } = (await response.json()) as Demo
    const [tenant] = tenants
    const application = tenant?.apps.find(({ name }) => name === APPLICATION)
    if (tenant === undefined || application === undefined) throw new Error(`it has no application ${APPLICATION}`)
    const { clientId, clientSecret } = application
    return { clientId, clientSecret, tenantId: tenant.tenantId, authorityUrl: directoryUrl, scope }
  } catch (cause) {
    const { message, cause: reason } = cause as Error
    const why = reason instanceof Error ? reason.message || message : message
    throw new CommandError(`No demo credentials at ${url}: ${why}. Set TOKEN, or CLIENT_ID and its secret`, { cause })
  }
}

/** The local directory has a certificate of its own authority. */
function trustAuthorityOf(dataFolder: string): void {
  try {
    const authority = readFileSync(join(dataFolder, 'ca.pem'), 'utf8')
    setDefaultCACertificates([...getCACertificates('default'), authority])
  } catch (error) {
    // Without the file, NODE_EXTRA_CA_CERTS may name the authority.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
