import { SETTINGS } from '../../../../shared/settings/settings.ts'
import { type DeployedResource, textOfValue } from '../bicep/value.ts'
import { at, ofType, type Rule, type Subject } from './rule.ts'

const IDENTITY = 'Microsoft.ManagedIdentity/userAssignedIdentities'

/** The purpose of an identity. */
export type Purpose = 'service' | 'graph' | 'host' | 'deployment'

/** The settings that name the identity of a purpose, by client id. */
const SETTINGS_OF: Readonly<Record<Exclude<Purpose, 'deployment'>, readonly string[]>> = {
  service: [SETTINGS.managedIdentityClientId.name, 'ServiceBus__clientId'],
  graph: [SETTINGS.graphIdentityClientId.name],
  host: ['AzureWebJobsStorage__clientId'],
}

/** The identity of each purpose, from the settings and the site. Undefined if these name several or none. */
export function identitiesByPurpose(subject: Subject): Record<Purpose, DeployedResource | undefined> {
  const identities = ofType(subject, IDENTITY)
  const [settings] = ofType(subject, 'Microsoft.Web/sites/config').filter(({ name }) => name === 'appsettings')
  const [site] = ofType(subject, 'Microsoft.Web/sites')
  const ofSettings = (names: readonly string[]) => {
    const clientIds = new Set(names.map((name) => textOfValue((settings && at(settings, `properties.${name}`)) ?? '')))
    return identities.find(({ id }) => clientIds.size === 1 && clientIds.has(`${id}.properties.clientId`))
  }
  const path = 'properties.functionAppConfig.deployment.storage.authentication.userAssignedIdentityResourceId'
  const deploymentId = textOfValue((site && at(site, path)) ?? '')
  return {
    service: ofSettings(SETTINGS_OF.service),
    graph: ofSettings(SETTINGS_OF.graph),
    host: ofSettings(SETTINGS_OF.host),
    deployment: identities.find(({ id }) => id === deploymentId),
  }
}

/**
 * Each purpose has its own identity. A token of a shared identity could replace the running code and sign in to every
 * directory.
 */
export const identitiesAreSeparate: Rule = (subject) => {
  const purposes = Object.entries(identitiesByPurpose(subject))
  const [site] = ofType(subject, 'Microsoft.Web/sites')
  const where = site?.at ?? { file: 'infra/main.bicep', line: 1 }
  for (const [purpose, identity] of purposes) {
    const sharing = purposes.filter(([other, { id } = { id: '' }]) => other > purpose && id === identity?.id)
    if (identity === undefined) subject.report(where, `the identity for the purpose ${purpose} is missing`)
    else for (const [other] of sharing) subject.report(where, `${purpose} and ${other} share an identity`)
  }
}
