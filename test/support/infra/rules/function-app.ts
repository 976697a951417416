import { type DeployedResource, isObject, textOfValue } from '../bicep/value.ts'
import { at, expect, ofType, type Rule, type Subject } from './rule.ts'

const SITE = 'Microsoft.Web/sites'
const IDENTITY = 'Microsoft.ManagedIdentity/userAssignedIdentities'

/** The app runs the code that azd deploys, on the Node.js version of the project, with the identities. */
export const functionAppRunsTheCode: Rule = (subject) => {
  for (const plan of ofType(subject, 'Microsoft.Web/serverfarms')) {
    expect(subject, plan, 'sku.name', 'FC1')
    expect(subject, plan, 'sku.tier', 'FlexConsumption')
    expect(subject, plan, 'kind', 'functionapp')
    // Flex Consumption requires Linux. Azure calls this property `reserved`.
    expect(subject, plan, 'properties.reserved', true)
  }
  for (const site of ofType(subject, SITE)) {
    const plans = ofType(subject, 'Microsoft.Web/serverfarms').map(({ id }) => id)
    expect(subject, site, 'kind', 'functionapp,linux')
    expect(subject, site, 'properties.serverFarmId', ...plans)
    checkRuntime(subject, site)
    checkDeployment(subject, site)
    checkIdentity(subject, site)
    checkTags(subject, site)
  }
}

function checkRuntime(subject: Subject, site: DeployedResource): void {
  const runtime = 'properties.functionAppConfig.runtime'
  expect(subject, site, `${runtime}.name`, 'node')
  if (subject.isDefault) expect(subject, site, `${runtime}.version`, subject.facts.nodeMajor)
}

/** The code is in a container of the storage account, and the app reads it with its identity. */
function checkDeployment(subject: Subject, site: DeployedResource): void {
  const storage = 'properties.functionAppConfig.deployment.storage'
  const containers = ofType(subject, 'Microsoft.Storage/storageAccounts/blobServices/containers').map((container) => {
    const account = container.parent?.parent
    return `${account?.id}.properties.primaryEndpoints.blob${textOfValue(container.name)}`
  })
  expect(subject, site, `${storage}.type`, 'blobContainer')
  expect(subject, site, `${storage}.value`, ...containers)
  expect(subject, site, `${storage}.authentication.type`, 'UserAssignedIdentity')
  const ids = ofType(subject, IDENTITY).map(({ id }) => id)
  expect(subject, site, `${storage}.authentication.userAssignedIdentityResourceId`, ...ids)
}

function checkIdentity(subject: Subject, site: DeployedResource): void {
  const ids = ofType(subject, IDENTITY).map(({ id }) => id)
  expect(subject, site, 'identity.type', 'UserAssigned')
  const assigned = at(site, 'identity.userAssignedIdentities')
  const names = isObject(assigned) ? Object.keys(assigned) : []
  if (names.toSorted().join() !== ids.toSorted().join()) {
    subject.report(site.at, 'the app must have all identities of the deployment and no others')
  }
}

/** azd finds its deployment targets by tags. */
function checkTags(subject: Subject, site: DeployedResource): void {
  const tags = at(site, 'tags')
  const service = isObject(tags) ? textOfValue(tags['azd-service-name'] ?? '') : ''
  if (!subject.facts.serviceNames.includes(service)) {
    const known = subject.facts.serviceNames.join(', ')
    subject.report(site.at, `azd-service-name must be a service of azure.yaml (${known}), not '${service}'`)
  }
  for (const group of ofType(subject, 'Microsoft.Resources/resourceGroups')) {
    const groupTags = at(group, 'tags')
    if (!isObject(groupTags) || groupTags['azd-env-name'] === undefined) {
      subject.report(group.at, 'the resource group must have the tag azd-env-name')
    }
  }
}

/** The database has point-in-time restore. In production, a lock protects it from deletion. */
export const databaseIsProtected: Rule = (subject) => {
  for (const account of ofType(subject, 'Microsoft.DocumentDB/databaseAccounts')) {
    expect(subject, account, 'properties.backupPolicy.type', 'Continuous')
    const tier = textOfValue(at(account, 'properties.backupPolicy.continuousModeProperties.tier') ?? '')
    const isLocked = ofType(subject, 'Microsoft.Authorization/locks').some(
      (lock) => lock.scope?.id === account.id && at(lock, 'properties.level') === 'CanNotDelete',
    )
    if ((tier === 'Continuous30Days') !== isLocked) {
      subject.report(
        account.at,
        `the database with backup tier ${tier} ${isLocked ? 'has a' : 'has no'} lock: production has 30 days and a lock`,
      )
    }
    const capabilities = textOfValue(at(account, 'properties.capabilities') ?? '')
    const isServerless = capabilities.includes('EnableServerless')
    for (const database of ofType(subject, 'Microsoft.DocumentDB/databaseAccounts/sqlDatabases')) {
      const hasThroughput = at(database, 'properties.options.autoscaleSettings.maxThroughput') !== undefined
      if (hasThroughput === isServerless)
        subject.report(database.at, 'throughput must be set if and only if the account is not serverless')
    }
  }
}
