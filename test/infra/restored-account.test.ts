import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { appSettingsOf, deployed, namesOf } from '../support/infra/deployed.ts'
import { readProjectText } from '../support/infra/project-facts.ts'

const ACCOUNT = 'Microsoft.DocumentDB/databaseAccounts'
const ENDPOINT = 'Microsoft.Network/privateEndpoints'
const restored = { cosmosAccountName: 'cosmos-restored' }

describe('after a restore of the database to a new account', () => {
  it('the deployment and the app use the account that the parameter names', () => {
    const deployment = deployed(restored)
    assert.deepEqual(namesOf(deployment, ACCOUNT), ['cosmos-restored'])
    assert.match(
      appSettingsOf(deployment).COSMOS_ENDPOINT ?? '',
      /\/databaseAccounts\/cosmos-restored\.properties\.documentEndpoint$/,
    )
  })

  it('azd reads its name from the environment', () => {
    const { parameters } = JSON.parse(readProjectText('infra/main.parameters.json'))
    assert.match(parameters.cosmosAccountName.value, /^\$\{COSMOS_ACCOUNT_NAME=\}$/)
    assert.match(readProjectText('infra/operations/README.md'), /azd env set COSMOS_ACCOUNT_NAME /)
  })

  it('the account gets a private endpoint of its own: an endpoint cannot change its resource', () => {
    const [usual = '', ...others] = namesOf(deployed({ vnetEnabled: true }), ENDPOINT)
    const [own = '', ...same] = namesOf(deployed({ vnetEnabled: true, ...restored }), ENDPOINT)
    assert.match(usual, /-cosmos$/)
    assert.match(own, /-cosmos-\w+$/)
    assert.deepEqual(same, others)
  })

  it('the usual name changes nothing', () => {
    const [cosmosAccountName = ''] = namesOf(deployed({}), ACCOUNT)
    assert.deepEqual(
      namesOf(deployed({ vnetEnabled: true, cosmosAccountName }), ENDPOINT),
      namesOf(deployed({ vnetEnabled: true }), ENDPOINT),
    )
  })
})
