import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadApp } from '../../infra/local/host/loader.ts'
import { describeFault } from './bicep/fault.ts'
import { parseProject, readTemplateTexts } from './bicep/read-project.ts'
import { checkProject, MAIN } from './check-project.ts'
import {
  CONNECTIONS,
  projectFiles,
  projectFolder,
  readProjectFacts,
  readProjectText,
  readTypes,
} from './project-facts.ts'
import { checkParametersFile } from './rules/parameters.ts'

const texts = readTemplateTexts(projectFolder)
const azureTypes = readTypes()
const facts = readProjectFacts()

/** Enough for the app to load: nothing connects before it is used. */
const SETTINGS = {
  SERVICE_CLIENT_ID: '11111111-1111-4111-8111-111111111111',
  HOME_TENANT_ID: '22222222-2222-4222-8222-222222222222',
  GRAPH_CLIENT_SECRET: 'not-used',
  COSMOS_ENDPOINT: 'http://127.0.0.1:9',
  COSMOS_KEY: Buffer.alloc(64).toString('base64'),
  ServiceBus: 'Endpoint=sb://127.0.0.1:9;SharedAccessKeyName=x;SharedAccessKey=y;UseDevelopmentEmulator=true',
  CURSOR_KEYS: Buffer.alloc(32).toString('base64'),
}

describe('the templates', () => {
  it('have no fault', (test) => {
    if (azureTypes === undefined) {
      test.diagnostic(
        "SKIPPED: the templates are NOT checked against the types of Azure's resources: there is no type data",
      )
    }
    assert.deepEqual(checkProject({ texts, azureTypes, facts, readText: readProjectText }), [])
  })

  it('are all there to be checked', () => {
    assert.ok(texts.has(MAIN) && texts.size >= 10, [...texts.keys()].join(', '))
    assert.equal(facts.nodeMajor, '24')
    assert.equal(facts.serviceNames.length, 1)
  })

  it('are checked for the connections that the functions have', async () => {
    Object.assign(process.env, SETTINGS)
    const { functions } = await loadApp(projectFolder, ['functions/*.ts'])
    const bindings = functions.flatMap(({ metadata }) => Object.values(metadata.bindings))
    const connections = bindings.flatMap(({ connection }) => (typeof connection === 'string' ? [connection] : []))
    assert.deepEqual([...new Set(connections)], CONNECTIONS)
  })

  for (const file of projectFiles('infra/*.parameters.json')) {
    it(`get parameters that there are from ${file}`, () => {
      const faults: string[] = []
      const main = parseProject(texts).templates.get(MAIN)
      assert.ok(main)
      checkParametersFile(file, readProjectText(file), main, file === 'infra/main.parameters.json', (at, message) =>
        faults.push(describeFault({ ...at, message })),
      )
      assert.deepEqual(faults, [])
    })
  }
})
