import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type ObjectValue, valueAt } from '../support/infra/bicep/value.ts'
import { deployed } from '../support/infra/deployed.ts'
import { readProjectText } from '../support/infra/project-facts.ts'

const HOOKS = new URL('../../infra/hooks/', import.meta.url).pathname

describe('a preview, for which azd runs no hooks', () => {
  const BUDGET = 'Microsoft.Consumption/budgets'
  const startOf = (parameters: ObjectValue) =>
    deployed({ environmentName: 'prod', budgetAmount: 100, ...parameters })
      .resources.filter(({ type }) => type === BUDGET)
      .map(({ body }) => valueAt(body, 'properties', 'timePeriod', 'startDate'))

  it('needs no start date of the budget: without one, it is the first day of this month', () => {
    assert.deepEqual(startOf({ budgetStartDate: '' }), startOf({}))
    assert.match(String(startOf({})[0]), /^\d{4}-\d\d-01$/)
    assert.deepEqual(startOf({ budgetStartDate: '2031-05-01' }), ['2031-05-01'])
    const { parameters } = JSON.parse(readProjectText('infra/main.parameters.json'))
    assert.match(parameters.budgetStartDate.value, /^\$\{BUDGET_START_DATE=\}$/)
  })
})

describe('before provisioning', { skip: process.platform === 'win32' }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'environment-hooks-'))
  after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'azd'), '#!/bin/sh\nprintf "%s\\n" "$*" >> "$(dirname "$0")/calls"\n', { mode: 0o755 })

  /** The calls of azd by the hook in an environment. */
  function callsIn(environment: Readonly<Record<string, string>>): string[] {
    writeFileSync(join(folder, 'calls'), '')
    const PATH = `${folder}${delimiter}${process.env.PATH}`
    execFileSync('sh', [join(HOOKS, 'prepare-environment.sh')], { env: { PATH, ...environment } })
    return readFileSync(join(folder, 'calls'), 'utf8').split('\n').filter(Boolean)
  }

  it('sets the start date of the budget', () => {
    const [day = '', ...others] = callsIn({})
    assert.match(day, /^env set BUDGET_START_DATE \d{4}-\d\d-01$/)
    assert.deepEqual(others, [])
  })

  it('fails for production until the tenants are named, and says how', () => {
    const set = { PRODUCTION: 'true', BUDGET_START_DATE: '2030-01-01' }
    for (const open of [set, { ...set, TENANTS: '' }, { ...set, TENANTS: 'any' }]) {
      assert.throws(() => callsIn(open), /azd env set TENANTS/)
    }
    assert.deepEqual(callsIn({ ...set, TENANTS: '11111111-0000-4000-8000-000000000001' }), [])
    assert.deepEqual(callsIn({ ...set, PRODUCTION: 'false' }), [])
  })

  it('accepts the first deployment for production as the guide describes it', () => {
    const [, block = ''] = /\n## Deploy\n\n```\n([\s\S]*?)```/.exec(readProjectText('infra/README.md')) ?? []
    const set = [...block.matchAll(/^azd env set (\w+) (.+)$/gm)].map(([, name = '', value = '']) => [name, value])
    const environment: Record<string, string> = Object.fromEntries(set)
    assert.equal(environment.PRODUCTION, 'true')
    assert.equal(callsIn(environment).length, 1)
  })

  it('keeps existing values', () => {
    assert.deepEqual(callsIn({ BUDGET_START_DATE: '2030-01-01' }), [])
  })
})

describe('after provisioning', { skip: process.platform === 'win32' }, () => {
  it('prints the remaining command with its values', () => {
    const printed = execFileSync('sh', [join(HOOKS, 'show-remaining-steps.sh')], {
      encoding: 'utf8',
      env: {
        PATH: process.env.PATH,
        AZURE_ENV_NAME: 'prod',
        SERVICE_CLIENT_ID: 'the-application',
        FEDERATED_CREDENTIAL_ISSUER: 'https://issuer/v2.0',
        FEDERATED_CREDENTIAL_SUBJECT: 'the-identity',
      },
    })
    assert.match(
      printed,
      /az ad app federated-credential create --id the-application --parameters '(?<json>\{[^']+\})'/,
    )
    assert.deepEqual(JSON.parse(/'(\{[^']+\})'/.exec(printed)?.[1] ?? ''), {
      name: 'prod',
      issuer: 'https://issuer/v2.0',
      subject: 'the-identity',
      audiences: ['api://AzureADTokenExchange'],
    })
  })
})
