import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readTemplateTexts } from './bicep/read-project.ts'
import { checkProject } from './check-project.ts'
import { projectFolder, readProjectFacts, readProjectText, readTypes } from './project-facts.ts'
import { OPERATION_FAULTS } from './seeded-operation-faults.ts'
import { RULE_FAULTS } from './seeded-rule-faults.ts'
import { LANGUAGE_FAULTS, TYPE_FAULTS } from './seeded-type-faults.ts'

const texts = readTemplateTexts(projectFolder)
const azureTypes = readTypes()
const facts = readProjectFacts()
const ALL = [...TYPE_FAULTS, ...LANGUAGE_FAULTS, ...RULE_FAULTS, ...OPERATION_FAULTS]

describe('a mistake in the templates', () => {
  const missed: string[] = []
  for (const { name, seed, expected } of ALL) {
    it(`is reported: ${name}`, () => {
      const found = checkProject({ texts: seed(texts), azureTypes, facts, readText: readProjectText })
      if (!found.some((each) => expected.test(each))) missed.push(name)
      assert.match(found.join('\n'), expected)
    })
  }

  it('is always reported', (test) => {
    test.diagnostic(`${ALL.length - missed.length} of ${ALL.length} seeded faults found`)
    assert.ok(ALL.length >= 40)
    assert.deepEqual(missed, [])
  })
})
