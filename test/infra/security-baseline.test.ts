import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readProjectText } from '../support/infra/project-facts.ts'

const module = (name: string): string => readProjectText(`infra/modules/${name}.bicep`)

describe('The templates', () => {
  it('let only some addresses reach the app and its deployments, where ranges are given', () => {
    const app = module('function-app')
    assert.match(app, /ipSecurityRestrictionsDefaultAction: empty\(allowedAddressRanges\) \? 'Allow' : 'Deny'/)
    assert.match(app, /scmIpSecurityRestrictionsUseMain: true/)
    assert.match(readProjectText('infra/main.bicep'), /allowedAddressRanges: allowedAddressRanges/)
  })

  it('give each subnet a security group that denies what it does not allow', () => {
    const network = module('network')
    const subnets = network.match(/addressPrefix: cidrSubnet\(/g) ?? []
    assert.equal((network.match(/networkSecurityGroup: \{ id: /g) ?? []).length, subnets.length)
    assert.equal((network.match(/name: 'deny-inbound'/g) ?? []).length, subnets.length)
    assert.match(network, /privateEndpointNetworkPolicies: 'NetworkSecurityGroupEnabled'/)
  })

  it('log what the app does and who reads its storage, for a year in production', () => {
    assert.match(module('function-app'), /category: 'FunctionAppLogs', enabled: true/)
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
