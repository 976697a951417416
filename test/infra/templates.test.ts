import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { loadApp } from '../../infra/local/host/loader.ts'
import { APP_SETTINGS } from '../support/architecture/settings-to-load.ts'
import { describeFault } from '../support/infra/bicep/fault.ts'
import { parseTemplates, readTemplateTexts } from '../support/infra/bicep/template.ts'
import { checkProject, MAIN } from '../support/infra/check-project.ts'
import {
  CONNECTIONS,
  projectFiles,
  projectFolder,
  readProjectFacts,
  readProjectText,
  readTypes,
} from '../support/infra/project-facts.ts'
import { checkParametersFile } from '../support/infra/rules/parameters.ts'

const texts = readTemplateTexts(projectFolder)
const azureTypes = readTypes()
const facts = readProjectFacts()

describe('the templates', () => {
  it('have no fault', () => {
    assert.deepEqual(checkProject({ texts, azureTypes, facts, readText: readProjectText }), [])
  })

  it('evaluate each alert at least once in the time that it looks at', () => {
    const text = readProjectText('infra/modules/alerts.bicep')
    const minutesOf = (duration: string) => Number(/\d+/.exec(duration)) * (duration.endsWith('H') ? 60 : 1)
    const own = [...text.matchAll(/evaluationFrequency: '(PT\d+[MH])'\n +windowSize: '(PT\d+[MH])'/g)]
    const [forMetrics] = [...text.matchAll(/evaluationFrequency: '(PT\d+[MH])'\n +windowSize: alert\.windowSize/g)]
    const ofMetrics = [...text.matchAll(/threshold: \w+\n +windowSize: '(PT\d+[MH])'\n +dimensions/g)]
    const pairs = [
      ...own.map(([, every, window]) => [every, window]),
      ...ofMetrics.map(([, window]) => [forMetrics?.[1], window]),
    ]
    assert.ok(own.length >= 9 && ofMetrics.length >= 4 && forMetrics, `${own.length}, ${ofMetrics.length}`)
    for (const [every = '', window = ''] of pairs)
      assert.ok(minutesOf(every) <= minutesOf(window), `${every} ${window}`)
  })

  it('are all checked', () => {
    assert.ok(texts.has(MAIN) && texts.size >= 10, [...texts.keys()].join(', '))
    assert.equal(facts.nodeMajor, '24')
    assert.equal(facts.serviceNames.length, 1)
  })

  it('are checked for the connections of the functions', async () => {
    Object.assign(process.env, APP_SETTINGS)
    const { functions } = await loadApp(projectFolder, ['functions/*.ts'])
    const bindings = functions.flatMap(({ metadata }) => Object.values(metadata.bindings))
    const connections = bindings.flatMap(({ connection }) => (typeof connection === 'string' ? [connection] : []))
    assert.deepEqual([...new Set(connections)], CONNECTIONS)
  })

  const parameterFaults = (file: string, text: string): string[] => {
    const faults: string[] = []
    const main = parseTemplates(texts).templates.get(MAIN)
    assert.ok(main)
    checkParametersFile(file, text, main, file === 'infra/main.parameters.json', (at, message) =>
      faults.push(describeFault({ ...at, message })),
    )
    return faults
  }

  for (const file of projectFiles('infra/*.parameters.json')) {
    it(`have the parameters of ${file}`, () => assert.deepEqual(parameterFaults(file, readProjectText(file)), []))
  }

  for (const [claim, find, replacement] of [
    ['omits the private network', /\n.*"vnetEnabled".*/, ''],
    ['disables the private network', /("vnetEnabled": \{ "value": )true/, '$1false'],
  ] as const) {
    it(`are rejected for production when the file ${claim}`, () => {
      const file = 'infra/prod.parameters.json'
      const faulty = readProjectText(file).replace(find, replacement)
      assert.match(
        parameterFaults(file, faulty).join('\n'),
        /^infra\/prod\.parameters\.json:\d+: production must not have public access/,
      )
    })
  }
})
