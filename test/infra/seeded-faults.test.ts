import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readTemplateTexts } from '../support/infra/bicep/template.ts'
import { checkProject } from '../support/infra/check-project.ts'
import { projectFolder, readProjectFacts, readProjectText, readTypes } from '../support/infra/project-facts.ts'
import { RULE_FAULTS, TYPE_FAULTS } from '../support/infra/seeded-faults.ts'

const texts = readTemplateTexts(projectFolder)
const azureTypes = readTypes()
const facts = readProjectFacts()

describe('a mistake in the templates', () => {
  for (const [name, seed, expected] of [...TYPE_FAULTS, ...RULE_FAULTS]) {
    it(`is reported: ${name}`, () => {
      const found = checkProject({ texts: seed(texts), azureTypes, facts, readText: readProjectText })
      assert.match(found.join('\n'), expected)
    })
  }
})
