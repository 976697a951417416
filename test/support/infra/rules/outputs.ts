import type { DeployedOutput } from '../bicep/deploy.ts'
import { textOfValue } from '../bicep/value.ts'
import { at, ofType, type Rule, type Subject } from './rule.ts'

const ID = /^\/(providers|subscriptions)\//

/**
 * The allowed content of outputs, by name. An unknown name is a fault, because anyone with read access sees outputs.
 */
const OUTPUTS: readonly { readonly name: RegExp; readonly content: string; readonly value: RegExp }[] = [
  { name: /^(id|\w+Id)$/, content: 'the id of a resource, or empty', value: /^(\/providers\/.*)?$/ },
  {
    name: /^principalId$|^FEDERATED_CREDENTIAL_SUBJECT$/,
    content: 'the principal id of an identity',
    value: /\.properties\.principalId$/,
  },
  { name: /^clientId$|_CLIENT_ID$/, content: 'the client id of an identity', value: /\.properties\.clientId$/ },
  {
    name: /^(url|API_URL)$/,
    content: 'the URL of the app',
    value: /^https:\/\/\S+\/sites\/\S+\.properties\.defaultHostName$/,
  },
  {
    name: /^(endpoint|COSMOS_ENDPOINT)$/,
    content: 'the endpoint of the database',
    value: /\.properties\.documentEndpoint$/,
  },
  { name: /^blobEndpoint$/, content: 'the endpoint of the blobs', value: /\.properties\.primaryEndpoints\.blob$/ },
  { name: /ContainerUrl$/, content: 'the URL of a blob container', value: /\.primaryEndpoints\.blob[a-z0-9-]+$/ },
  {
    name: /^(hostName|SERVICE_BUS_HOST_NAME)$/,
    content: 'the host name of the queues',
    value: /\/namespaces\/\S*\.properties\.serviceBusEndpoint$/,
  },
  { name: /^(name|\w+Name|AZURE_RESOURCE_GROUP)$/, content: 'the name of a resource', value: /^[a-zA-Z][\w<>-]*$/ },
  { name: /^FEDERATED_CREDENTIAL_ISSUER$/, content: 'the issuer of tokens', value: /^https:\/\/login\.\S+\/v2\.0$/ },
]

/** Returns the most specific rule for a name. */
const ruleOf = (name: string) => {
  const fitting = OUTPUTS.filter((rule) => rule.name.test(name))
  return fitting.find(({ name: pattern }) => !pattern.source.includes('\\w+')) ?? fitting[0]
}

/** Outputs contain what their names say, and no secrets. */
export const outputsMatchTheirNames: Rule = (subject) => {
  for (const output of subject.deployment.outputs) {
    const text = textOfValue(output.value)
    if (isConnectionString(subject, output, text) || containsSecret(subject, output, text)) continue
    const rule = ruleOf(output.name)
    if (rule === undefined) subject.report(output.at, `output ${output.name} has no rule for its content`)
    else if (!rule.value.test(text)) {
      subject.report(output.at, `output ${output.name} must be ${rule.content}: it is ${text.slice(0, 120)}`)
    } else if (ID.test(text) && /Id$|^id$/.test(output.name)) checkId(subject, output, text)
  }
}

/** Checks that the id in an output belongs to a resource of the type in its name. */
function checkId({ report }: Subject, { name, at: where }: DeployedOutput, text: string): void {
  const kinds: Readonly<Record<string, RegExp>> = {
    workspaceId: /\/workspaces\/[^/.]+$/,
    appSubnetId: /\/virtualNetworks\/[^/.]+\/subnets\/[^/.]+$/,
  }
  const kind = kinds[name]
  if (kind && !kind.test(text))
    report(where, `output ${name} must be the id of the resource in its name: it is ${text}`)
}

/** The connection string of Application Insights gives no access while local authentication is disabled. */
function isConnectionString(subject: Subject, { name, at: where }: DeployedOutput, text: string): boolean {
  const component = ofType(subject, 'Microsoft.Insights/components').find(
    ({ id }) => text === `${id}.properties.ConnectionString`,
  )
  if (component === undefined) return false
  const isClosed = at(component, 'properties.DisableLocalAuth') === true
  const isInner = where.file !== 'infra/main.bicep'
  if (!isClosed || !isInner) subject.report(where, `output ${name} gives access to Application Insights`)
  return true
}

function containsSecret({ report }: Subject, { name, at: where }: DeployedOutput, text: string): boolean {
  const isSecret = /connectionstring|key|secret|password|token|\blist[A-Z]/i.test(`${name} ${text}`)
  if (isSecret) report(where, `output ${name} contains a secret: outputs are readable in the deployment history`)
  return isSecret
}
