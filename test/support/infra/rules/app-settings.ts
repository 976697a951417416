import { readSettings, SETTINGS } from '../../../../shared/settings/settings.ts'
import { suggestion } from '../bicep/fault.ts'
import { type DeployedResource, isObject, type ObjectValue, Opaque, textOfValue, type Value } from '../bicep/value.ts'
import { at, itemsOf, ofType, type Rule, type Subject } from './rule.ts'

/** Settings with secrets. Azure deployments do not use them: the identity and the database replace them. */
const LOCAL_ONLY: readonly string[] = [
  SETTINGS.graphClientSecret.name,
  SETTINGS.cosmosKey.name,
  SETTINGS.serviceBusConnectionString.name,
  SETTINGS.cursorKeys.name,
]

/** Settings of the platform, which use the managed identity. */
const PLATFORM: readonly string[] = [
  'AzureWebJobsDisableHomepage',
  'AzureWebJobs.sweep.Disabled',
  'AzureWebJobs.sweepAfterRestore.Disabled',
  'AzureWebJobsStorage__blobServiceUri',
  'AzureWebJobsStorage__credential',
  'AzureWebJobsStorage__clientId',
  'APPLICATIONINSIGHTS_CONNECTION_STRING',
  'APPLICATIONINSIGHTS_AUTHENTICATION_STRING',
]

/** Settings of the service that name an identity. */
const OF_IDENTITIES: readonly string[] = [SETTINGS.managedIdentityClientId.name, SETTINGS.graphIdentityClientId.name]

/** Sample values of settings that only the cloud or the operator knows. */
const MADE_UP: Readonly<Record<string, string>> = {
  [SETTINGS.serviceClientId.name]: '11111111-1111-4111-8111-111111111111',
  [SETTINGS.tenants.name]: 'any',
  [SETTINGS.managedIdentityClientId.name]: '22222222-2222-4222-8222-222222222222',
  [SETTINGS.graphIdentityClientId.name]: '33333333-3333-4333-8333-333333333333',
  [SETTINGS.serviceBusNamespace.name]: 'namespace.servicebus.windows.net',
  [SETTINGS.cosmosEndpoint.name]: 'https://account.documents.azure.com:443/',
  APPLICATIONINSIGHTS_CONNECTION_STRING: 'InstrumentationKey=11111111-1111-4111-8111-111111111111',
}

/** Exactly the settings that the service reads are set. */
export const settingsMatchTheCode: Rule = (subject) => {
  const sites = ofType(subject, 'Microsoft.Web/sites')
  for (const site of sites) {
    const config = ofType(subject, 'Microsoft.Web/sites/config').find(
      (item) => item.name === 'appsettings' && item.parent?.type === site.type,
    )
    const [owner, settings] = config ? [config, at(config, 'properties')] : [site, listedSettings(site)]
    if (!isObject(settings)) subject.report(site.at, 'the site has no settings')
    else checkSettings(subject, owner, settings)
  }
  if (sites.length === 0) subject.report({ file: 'infra/main.bicep', line: 1 }, 'the function app is missing')
}

/** The settings of a site that sets them as a list of names and values. */
function listedSettings(site: DeployedResource): ObjectValue {
  const pairs = itemsOf(at(site, 'properties.siteConfig.appSettings')).flatMap((item): [string, Value][] =>
    isObject(item) ? [[textOfValue(item.name ?? ''), item.value ?? '']] : [],
  )
  return Object.fromEntries(pairs)
}

function checkSettings(subject: Subject, owner: DeployedResource, settings: ObjectValue): void {
  const { connections } = subject.facts
  const byIdentity = connections.flatMap((name) => [
    `${name}__fullyQualifiedNamespace`,
    `${name}__credential`,
    `${name}__clientId`,
  ])
  const read = Object.values(SETTINGS).map(({ name }) => name)
  const wanted = new Set([...read.filter((name) => !LOCAL_ONLY.includes(name)), ...PLATFORM, ...byIdentity])
  for (const name of Object.keys(settings)) {
    const where = owner.at
    if (LOCAL_ONLY.includes(name))
      subject.report(where, `${name} is for local use only: in Azure the managed identity replaces it`)
    else if (!wanted.has(name)) subject.report(where, `the setting ${name} is not used${suggestion(name, wanted)}`)
  }
  for (const name of wanted) {
    if (settings[name] === undefined) subject.report(owner.at, `the setting ${name} is not set`)
  }
  for (const name of wanted) checkIdentitySetting(subject, owner, name, textOfValue(settings[name] ?? ''))
  checkValues(subject, owner, settings)
}

/** Checks the settings that select the credential and the identity of a connection. */
function checkIdentitySetting(subject: Subject, owner: DeployedResource, name: string, value: string): void {
  const clientIds = ofType(subject, 'Microsoft.ManagedIdentity/userAssignedIdentities').map(
    ({ id }) => `${id}.properties.clientId`,
  )
  const where = owner.at
  if (name.endsWith('__credential') && value !== 'managedidentity') {
    subject.report(where, `${name} must be managedidentity, not ${value}`)
  }
  const isClientId = name.endsWith('__clientId') || OF_IDENTITIES.includes(name)
  if (isClientId && !clientIds.includes(value)) subject.report(where, `${name} must be the identity's client id`)
  if (name === 'APPLICATIONINSIGHTS_AUTHENTICATION_STRING') {
    const expected = clientIds.map((id) => `ClientId=${id};Authorization=AAD`)
    if (!expected.includes(value)) subject.report(where, `${name} must be ClientId=<client id>;Authorization=AAD`)
  }
}

/** The settings as the service reads them. */
function checkValues({ report }: Subject, owner: DeployedResource, settings: ObjectValue): void {
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value !== 'string' && !(value instanceof Opaque)) {
      report(owner.at, `a setting must be a string, ${name} is ${textOfValue(value)}`)
    }
    environment[name] = MADE_UP[name] ?? textOfValue(value)
  }
  // Values of parameters are not known here.
  for (const [name, value] of Object.entries(environment))
    if (value.startsWith('<')) environment[name] = MADE_UP[name] ?? 'x'
  try {
    readSettings(environment)
  } catch (error) {
    report(owner.at, `the service rejects its settings: ${error instanceof Error ? error.message : String(error)}`)
  }
}
