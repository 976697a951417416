import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { describeFault } from './bicep/fault.ts'
import { parseProject, readTemplateTexts } from './bicep/read-project.ts'
import { checkProject, MAIN } from './check-project.ts'
import { projectFiles, projectFolder, readProjectFacts, readProjectText, readTypes } from './project-facts.ts'
import { checkParametersFile } from './rules/parameters.ts'

const texts = readTemplateTexts(projectFolder)
const azureTypes = readTypes()
const facts = await readProjectFacts()

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
    assert.deepEqual(facts.connections, ['ServiceBus'])
    assert.equal(facts.nodeMajor, '24')
    assert.equal(facts.serviceNames.length, 1)
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
