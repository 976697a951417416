import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type ObjectValue, plain, textOfValue, type Value, valueAt } from '../support/infra/bicep/value.ts'
import { deployed } from '../support/infra/deployed.ts'
import { readProjectText } from '../support/infra/project-facts.ts'

const module = (name: string): string => readProjectText(`infra/modules/${name}.bicep`)

/** The rules for requests to the app, and what holds for other addresses. */
function accessRulesOf(allowedAddressRanges: string) {
  const app = deployed({ allowedAddressRanges }).resources.find(({ type }) => type === 'Microsoft.Web/sites')
  const siteConfig = (name: string) => valueAt(app?.body, 'properties', 'siteConfig', name)
  return { rules: siteConfig('ipSecurityRestrictions'), otherwise: siteConfig('ipSecurityRestrictionsDefaultAction') }
}

describe('The templates', () => {
  it('let the availability test reach the app beside the address ranges, so that its alert does not fire', () => {
    assert.deepEqual(accessRulesOf('203.0.113.0/24, 198.51.100.0/24'), {
      otherwise: 'Deny',
      rules: [
        {
          name: 'availability-tests',
          action: 'Allow',
          tag: 'ServiceTag',
          ipAddress: 'ApplicationInsightsAvailability',
          priority: 99,
        },
        { name: 'allowed-0', action: 'Allow', ipAddress: '203.0.113.0/24', priority: 100 },
        { name: 'allowed-1', action: 'Allow', ipAddress: '198.51.100.0/24', priority: 101 },
      ],
    })
  })

  it('restrict no addresses without address ranges', () => {
    assert.deepEqual(accessRulesOf(''), { otherwise: 'Allow', rules: [] })
  })

  it('let only some addresses reach the app and its deployments, where ranges are given', () => {
    const app = module('function-app')
    assert.match(app, /ipSecurityRestrictionsDefaultAction: empty\(allowedAddressRanges\) \? 'Allow' : 'Deny'/)
    assert.match(app, /scmIpSecurityRestrictionsUseMain: true/)
    assert.match(readProjectText('infra/main.bicep'), /allowedAddressRanges: empty\(allowedAddressRanges\) \? /)
  })

  it('give each subnet a security group that denies what it does not allow', () => {
    const network = module('network')
    const subnets = network.match(/addressPrefix: cidrSubnet\(/g) ?? []
    assert.equal((network.match(/networkSecurityGroup: \{ id: /g) ?? []).length, subnets.length)
    assert.equal((network.match(/name: 'deny-inbound'/g) ?? []).length, subnets.length)
    assert.match(network, /privateEndpointNetworkPolicies: 'NetworkSecurityGroupEnabled'/)
  })

  it('let operators reach the private endpoints from their address ranges only', () => {
    const rulesWith = (parameters: ObjectValue) => {
      const { resources } = deployed({ environmentName: 'prod', vnetEnabled: true, ...parameters })
      const group = resources.find(({ name }) => textOfValue(name).endsWith('-private-endpoints'))
      return valueAt(group?.body, 'properties', 'securityRules') as readonly Value[]
    }
    const usual = rulesWith({})
    const others = rulesWith({ operatorAddressRanges: '10.50.1.0/27' }).filter(
      (rule) => !usual.some((known) => textOfValue(known) === textOfValue(rule)),
    )
    assert.equal(usual.length, 2)
    assert.deepEqual(
      others.map((rule) => plain(valueAt(rule, 'properties', 'sourceAddressPrefixes') ?? null)),
      [['10.50.1.0/27']],
    )
  })

  it('log what the app does and who reads its storage, for a year in production', () => {
    assert.match(module('app-settings'), /APPLICATIONINSIGHTS_CONNECTION_STRING: applicationInsightsConnectionString/)
    assert.match(module('storage'), /category: 'StorageRead', enabled: true/)
    const { parameters } = JSON.parse(readProjectText('infra/prod.parameters.json'))
    assert.equal(parameters.logRetentionDays.value, 365)
  })

  it('require TLS 1.3 of clients of the app', () => {
    assert.match(module('function-app'), /\bminTlsVersion: '1\.3'/)
    assert.match(module('function-app'), /scmMinTlsVersion: '1\.3'/)
  })

  it('name no tenants by default, so that a deployment has to', () => {
    assert.match(readProjectText('infra/main.bicep'), /^param tenants string$/m)
  })
})
