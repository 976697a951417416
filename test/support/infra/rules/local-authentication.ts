import type { Template } from '../bicep/template.ts'
import type { Value } from '../bicep/value.ts'
import { expect, ofType, type Rule, type TemplateRule } from './rule.ts'

/** By resource type, the properties that allow only tokens of the directory over TLS 1.2. */
const CLOSED: Readonly<Record<string, Readonly<Record<string, readonly Value[]>>>> = {
  'Microsoft.DocumentDB/databaseAccounts': {
    'properties.disableLocalAuth': [true],
    'properties.disableKeyBasedMetadataWriteAccess': [true],
    'properties.minimalTlsVersion': ['Tls12'],
  },
  'Microsoft.ServiceBus/namespaces': {
    'properties.disableLocalAuth': [true],
    'properties.minimumTlsVersion': ['1.2'],
  },
  'Microsoft.Storage/storageAccounts': {
    'properties.allowSharedKeyAccess': [false],
    'properties.allowBlobPublicAccess': [false],
    'properties.minimumTlsVersion': ['TLS1_2', 'TLS1_3'],
    'properties.supportsHttpsTrafficOnly': [true],
  },
  'Microsoft.Storage/storageAccounts/blobServices/containers': { 'properties.publicAccess': ['None'] },
  'Microsoft.Insights/components': { 'properties.DisableLocalAuth': [true] },
  'Microsoft.OperationalInsights/workspaces': { 'properties.features.disableLocalAuth': [true] },
  'Microsoft.Web/sites': {
    'properties.httpsOnly': [true],
    'properties.siteConfig.minTlsVersion': ['1.2', '1.3'],
    'properties.siteConfig.scmMinTlsVersion': ['1.2', '1.3'],
    'properties.siteConfig.ftpsState': ['Disabled'],
  },
  'Microsoft.Web/sites/basicPublishingCredentialsPolicies': { 'properties.allow': [false] },
}

/** Access with keys or passwords, and unencrypted access, are disabled. */
export const localAuthenticationIsOff: Rule = (subject) => {
  for (const [type, paths] of Object.entries(CLOSED)) {
    for (const resource of ofType(subject, type)) {
      for (const [path, allowed] of Object.entries(paths)) expect(subject, resource, path, ...allowed)
    }
  }
  for (const site of ofType(subject, 'Microsoft.Web/sites')) {
    const policies = ofType(subject, 'Microsoft.Web/sites/basicPublishingCredentialsPolicies')
    for (const name of ['ftp', 'scm']) {
      const isThere = policies.some((policy) => policy.parent?.id === site.id && policy.name === name)
      if (!isThere) subject.report(site.at, `the site has no policy that disables the publishing password of ${name}`)
    }
  }
}

/** Functions that return secrets, and secrets. */
const SECRETS = /\blist(Keys|Secrets|AccountSas|ServiceSas)\b|AccountKey|SharedAccessKey\b|SharedAccessSignature/

/** Templates do not read or contain keys, and have no secret parameters: all access is by managed identity. */
export const templatesHoldNoSecrets: TemplateRule = ({ templates, report }) => {
  for (const { file, text, declarations } of templates) {
    for (const [index, line] of text.split('\n').entries()) {
      const [found] = SECRETS.exec(line.replace(/\/\/.*/, '')) ?? []
      if (found) report({ file, line: index + 1 }, `${found}: templates must not read or contain keys`)
    }
    for (const { name, at } of declarations.filter(isSecret)) report(at, `parameter ${name} is a secret`)
  }
}

const isSecret = ({ kind, name, decorators }: Template['declarations'][number]): boolean =>
  kind === 'parameter' && (decorators.has('secure') || /(secret|password|keys?)$/i.test(name))
