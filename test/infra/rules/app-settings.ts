import { readSettings, SETTINGS } from '../../../shared/settings/settings.ts'
import { suggestion } from '../bicep/fault.ts'
import {
  type DeployedResource,
  isObject,
  type ObjectValue,
  Opaque,
  textOfValue,
  type Value,
} from '../deployment/value.ts'
import { at, itemsOf, ofType, place, type Rule, type Subject } from './rule.ts'

/** Settings that hold a secret, of which the cloud has none: the identity and the database stand for them. */
const LOCAL_ONLY: readonly string[] = [
  SETTINGS.graphClientSecret.name,
  SETTINGS.cosmosKey.name,
  SETTINGS.serviceBusConnectionString.name,
  SETTINGS.cursorKeys.name,
]

/** Settings of the platform, all by the managed identity. */
const PLATFORM: readonly string[] = [
  'AzureWebJobsDisableHomepage',
  'AzureWebJobsStorage__blobServiceUri',
  'AzureWebJobsStorage__credential',
  'AzureWebJobsStorage__clientId',
  'APPLICATIONINSIGHTS_CONNECTION_STRING',
  'APPLICATIONINSIGHTS_AUTHENTICATION_STRING',
]

/** Settings of the service that name an identity. */
const OF_IDENTITIES: readonly string[] = [SETTINGS.managedIdentityClientId.name, SETTINGS.graphIdentityClientId.name]

/** Values for what only the cloud knows, or somebody keeps to himself. */
const MADE_UP: Readonly<Record<string, string>> = {
  [SETTINGS.serviceClientId.name]: '11111111-1111-4111-8111-111111111111',
  [SETTINGS.managedIdentityClientId.name]: '22222222-2222-4222-8222-222222222222',
  [SETTINGS.graphIdentityClientId.name]: '33333333-3333-4333-8333-333333333333',
  [SETTINGS.serviceBusNamespace.name]: 'namespace.servicebus.windows.net',
  [SETTINGS.cosmosEndpoint.name]: 'https://account.documents.azure.com:443/',
  APPLICATIONINSIGHTS_CONNECTION_STRING: 'InstrumentationKey=11111111-1111-4111-8111-111111111111',
}

/** The service finds every setting it reads, and no other is set. */
export const settingsAreThoseOfTheCode: Rule = (subject) => {
  const sites = ofType(subject, 'Microsoft.Web/sites')
  for (const site of sites) {
    const config = ofType(subject, 'Microsoft.Web/sites/config').find(
      (each) => each.name === 'appsettings' && each.parent?.type === site.type,
    )
    const [owner, settings] = config ? [config, at(config, 'properties')] : [site, listedSettings(site)]
    if (!isObject(settings)) subject.report(site.at, 'the site has no settings')
    else checkSettings(subject, owner, settings)
  }
  if (sites.length === 0) subject.report({ file: 'infra/main.bicep', line: 1 }, 'there is no function app')
}

/** Settings may be given as a list of names and values within the site. */
function listedSettings(site: DeployedResource): ObjectValue {
  const pairs = itemsOf(at(site, 'properties.siteConfig.appSettings')).flatMap((each): [string, Value][] =>
    isObject(each) ? [[textOfValue(each.name ?? ''), each.value ?? '']] : [],
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
    const where = place(owner, `properties.${name}`)
    if (LOCAL_ONLY.includes(name))
      subject.report(where, `${name} is for one machine: the cloud has the managed identity`)
    else if (!wanted.has(name)) subject.report(where, `nothing reads the setting ${name}${suggestion(name, wanted)}`)
  }
  for (const name of wanted) {
    if (settings[name] === undefined) subject.report(owner.at, `the setting ${name} is not set`)
  }
  for (const name of wanted) checkIdentitySetting(subject, owner, name, textOfValue(settings[name] ?? ''))
  checkValues(subject, owner, settings)
}

/** Names of settings that say how a connection signs in, and which identity it takes. */
function checkIdentitySetting(subject: Subject, owner: DeployedResource, name: string, value: string): void {
  const clientIds = ofType(subject, 'Microsoft.ManagedIdentity/userAssignedIdentities').map(
    ({ id }) => `${id}.properties.clientId`,
  )
  const where = place(owner, `properties.${name}`)
  if (name.endsWith('__credential') && value !== 'managedidentity') {
    subject.report(where, `${name} has to be managedidentity, not ${value}`)
  }
  const isClientId = name.endsWith('__clientId') || OF_IDENTITIES.includes(name)
  if (isClientId && !clientIds.includes(value)) subject.report(where, `${name} has to be the identity's client id`)
  if (name === 'APPLICATIONINSIGHTS_AUTHENTICATION_STRING') {
    const expected = clientIds.map((id) => `ClientId=${id};Authorization=AAD`)
    if (!expected.includes(value)) subject.report(where, `${name} has to be ClientId=<client id>;Authorization=AAD`)
  }
}

/** The settings as the service reads them. */
function checkValues({ report }: Subject, owner: DeployedResource, settings: ObjectValue): void {
  const environment: Record<string, string> = {}
  for (const [name, value] of Object.entries(settings)) {
    if (typeof value !== 'string' && !(value instanceof Opaque)) {
      report(place(owner, `properties.${name}`), `a setting is a string, ${name} is ${textOfValue(value)}`)
    }
    environment[name] = MADE_UP[name] ?? textOfValue(value)
  }
  // A value that a parameter gives is not known here.
  for (const [name, value] of Object.entries(environment))
    if (value.startsWith('<')) environment[name] = MADE_UP[name] ?? 'x'
  try {
    readSettings(environment)
  } catch (error) {
    report(owner.at, `the service refuses its settings: ${error instanceof Error ? error.message : String(error)}`)
  }
}
