import type { Container } from '@azure/cosmos'
import type { TokenCredential } from '@azure/identity'
import { callerAdmission } from '../../shared/auth/caller-admission.ts'
import { authorityKeys } from '../../shared/auth/signing-keys.ts'
import { tokenVerifier } from '../../shared/auth/token-verifier.ts'
import type { ContainerId } from '../../shared/cosmos/containers.ts'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { databaseCheck } from '../../shared/cosmos/database-check.ts'
import type { Directory } from '../../shared/domain/group-links/directory.ts'
import type { Mailer } from '../../shared/domain/mail/mail-dependencies.ts'
import { graphCalls } from '../../shared/graph/graph-calls.ts'
import { graphDirectory } from '../../shared/graph/graph-directory.ts'
import { graphMailer } from '../../shared/graph/graph-mailer.ts'
import { graphTokens } from '../../shared/graph/graph-tokens.ts'
import { observedCalls } from '../../shared/graph/observed-calls.ts'
import type { Part, PartCheck } from '../../shared/http/probes.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import type { MessageQueue } from '../../shared/kernel/messages.ts'
import { messageSender, queueCheck } from '../../shared/messaging/message-sender.ts'
import type { Settings } from '../../shared/settings/settings.ts'
import type { Runtime } from './runtime.ts'

/** The servers that the service calls. */
export type Connections = {
  readonly container: (id: ContainerId) => Container
  readonly messageQueue: MessageQueue
  readonly directory: Directory
  /** Undefined where no mails are sent. */
  readonly mailer: Mailer | undefined
  /** @throws Refusal `TokenMissing`, `TokenInvalid`, `TokenNotVerified`. */
  readonly authenticate: (authorization: string | null) => Promise<Caller>
  /** @throws Refusal `TenantNotAllowed`, `TooManyRequests`. */
  readonly admit: (caller: Caller) => void
  /** Whether each of them can be used now. */
  readonly checks: Readonly<Record<Part, PartCheck>>
}

/** Connects to nothing before its first use. Connections that `overrides` names take the place of the real ones. */
export function openConnections(
  settings: Settings,
  runtime: Runtime,
  overrides: Partial<Connections> = {},
): Connections {
  const { authorityUrl, managedIdentityClientId, apiScope: scope } = settings
  const { nowMs, elapsedMs } = runtime
  const credential = serviceIdentity(managedIdentityClientId)
  const { cosmosEndpoint: endpoint, cosmosKey: key, serviceBusConnectionString: connectionString } = settings
  const bus =
    connectionString === undefined
      ? { namespace: settings.serviceBusNamespace ?? '', credential }
      : { connectionString }
  const account = key === undefined ? { endpoint, credential } : { endpoint, key }
  const container = overrides.container ?? openDatabase(account)
  const keys = authorityKeys(authorityUrl, nowMs)
  const graph = openGraph(settings, runtime)
  const audiences = [settings.serviceClientId, settings.serviceResourceUri]
  return {
    container,
    messageQueue: overrides.messageQueue ?? messageSender(bus, nowMs),
    directory: overrides.directory ?? openDirectory(settings, runtime, graph),
    mailer: overrides.mailer ?? openMailer(settings, runtime, graph),
    authenticate: overrides.authenticate ?? tokenVerifier({ authorityUrl, audiences, scope }, nowMs, keys),
    admit: overrides.admit ?? callerAdmission(settings, elapsedMs),
    checks: overrides.checks ?? {
      database: databaseCheck(container('tenants')),
      queue: queueCheck(bus),
      directoryKeys: () => keys.ready(),
    },
  }
}

function openGraph(settings: Settings, { nowMs, metrics }: Runtime) {
  const { authorityUrl, graphUrl, homeTenantId, graphIdentityClientId } = settings
  const { serviceClientId: clientId, graphClientSecret: clientSecret } = settings
  const tokens = graphTokens({ authorityUrl, homeTenantId, clientId, clientSecret, graphIdentityClientId }, nowMs)
  return { tokens, send: observedCalls(graphCalls(graphUrl, tokens, nowMs), metrics) }
}

type Graph = ReturnType<typeof openGraph>

function openDirectory({ graphUrl }: Settings, { nowMs, sleep, random }: Runtime, { tokens, send }: Graph): Directory {
  return graphDirectory({ graphUrl, send, servicePrincipalOf: tokens.servicePrincipalId, sleep, nowMs, random })
}

function openMailer({ mailSender: sender, homeTenantId: tenantId }: Settings, { nowMs }: Runtime, { send }: Graph) {
  return sender === undefined ? undefined : graphMailer({ sender, tenantId, send, nowMs })
}

/**
 * The service's own identity, used where no key is set: the managed identity with this client id or, without one, the
 * default credential of the process. The package is loaded when the first token is requested.
 */
export function serviceIdentity(managedIdentityClientId: string | undefined): TokenCredential {
  let opened: Promise<TokenCredential> | undefined
  return {
    async getToken(scopes, options) {
      opened ??= openCredential(managedIdentityClientId)
      return (await opened).getToken(scopes, options)
    },
  }
}

async function openCredential(clientId: string | undefined): Promise<TokenCredential> {
  const { DefaultAzureCredential, ManagedIdentityCredential } = await import('@azure/identity')
  return clientId === undefined ? new DefaultAzureCredential() : new ManagedIdentityCredential({ clientId })
}
