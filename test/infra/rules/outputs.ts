import type { Output } from '../deployment/deploy.ts'
import { textOfValue } from '../deployment/value.ts'
import { at, ofType, type Rule, type Subject } from './rule.ts'

const ID = /^\/(providers|subscriptions)\//

/** What an output may tell, by its name. A name that none of these knows is a fault: an output is open to all readers. */
const OUTPUTS: readonly { readonly name: RegExp; readonly tells: string; readonly value: RegExp }[] = [
  { name: /^(id|\w+Id)$/, tells: 'the id of a resource, or nothing', value: /^(\/providers\/.*)?$/ },
  {
    name: /^principalId$|^FEDERATED_CREDENTIAL_SUBJECT$/,
    tells: "the identity's principal",
    value: /\.properties\.principalId$/,
  },
  { name: /^clientId$|_CLIENT_ID$/, tells: "the identity's client", value: /\.properties\.clientId$/ },
  {
    name: /^(url|API_URL)$/,
    tells: 'where the app is',
    value: /^https:\/\/\S+\/sites\/\S+\.properties\.defaultHostName$/,
  },
  { name: /^(endpoint|COSMOS_ENDPOINT)$/, tells: 'where the database is', value: /\.properties\.documentEndpoint$/ },
  { name: /^blobEndpoint$/, tells: 'where the blobs are', value: /\.properties\.primaryEndpoints\.blob$/ },
  { name: /ContainerUrl$/, tells: 'where a container of blobs is', value: /\.primaryEndpoints\.blob[a-z0-9-]+$/ },
  {
    name: /^(hostName|SERVICE_BUS_HOST_NAME)$/,
    tells: 'where the queues are',
    value: /\/namespaces\/\S*\.properties\.serviceBusEndpoint$/,
  },
  { name: /^(name|\w+Name|AZURE_RESOURCE_GROUP)$/, tells: 'the name of a resource', value: /^[a-zA-Z][\w<>-]*$/ },
  { name: /^FEDERATED_CREDENTIAL_ISSUER$/, tells: 'the issuer of tokens', value: /^https:\/\/login\.\S+\/v2\.0$/ },
]

/** More precise rules of the same names go first. */
const ruleOf = (name: string) => {
  const fitting = OUTPUTS.filter((rule) => rule.name.test(name))
  return fitting.find(({ name: pattern }) => !pattern.source.includes('\\w+')) ?? fitting[0]
}

/** Outputs tell what their names say, and no secrets. */
export const outputsTellWhatTheyName: Rule = (subject) => {
  for (const output of subject.deployment.outputs) {
    const text = textOfValue(output.value)
    if (isConnectionString(subject, output, text) || tellsSecret(subject, output, text)) continue
    const rule = ruleOf(output.name)
    if (rule === undefined) subject.report(output.at, `there is no rule for what output ${output.name} may tell`)
    else if (!rule.value.test(text)) {
      subject.report(output.at, `output ${output.name} has to tell ${rule.tells}: it tells ${text.slice(0, 120)}`)
    } else if (ID.test(text) && /Id$|^id$/.test(output.name)) checkId(subject, output, text)
  }
}

/** Each kind of id is of a resource whose type ends like that. */
function checkId({ report }: Subject, { name, at: where }: Output, text: string): void {
  const kinds: Readonly<Record<string, RegExp>> = {
    workspaceId: /\/workspaces\/[^/.]+$/,
    appSubnetId: /\/virtualNetworks\/[^/.]+\/subnets\/[^/.]+$/,
  }
  const kind = kinds[name]
  if (kind && !kind.test(text)) report(where, `output ${name} has to be the id that its name says: it is ${text}`)
}

/** The one of Application Insights names it and lets nobody in, as long as its own keys are off. */
function isConnectionString(subject: Subject, { name, at: where }: Output, text: string): boolean {
  const component = ofType(subject, 'Microsoft.Insights/components').find(
    ({ id }) => text === `${id}.properties.ConnectionString`,
  )
  if (component === undefined) return false
  const isClosed = at(component, 'properties.DisableLocalAuth') === true
  const isInner = where.file !== 'infra/main.bicep'
  if (!isClosed || !isInner) subject.report(where, `output ${name} gives a way in to Application Insights`)
  return true
}

function tellsSecret({ templates, report }: Subject, { name, at: where }: Output, text: string): boolean {
  const secure = templates.flatMap(({ declarations }) =>
    declarations.filter((each) => each.kind === 'parameter' && each.decorators.some((one) => one.name === 'secure')),
  )
  const isSecret =
    secure.some((parameter) => text.includes(`<${parameter.name}>`)) ||
    /connectionstring|key|secret|password|token|\blist[A-Z]/i.test(`${name} ${text}`)
  if (isSecret) report(where, `output ${name} tells a secret: outputs are kept with the deployment, for all to read`)
  return isSecret
}
