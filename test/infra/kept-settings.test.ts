import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseTemplates, readTemplateTexts } from '../support/infra/bicep/template.ts'
import { MAIN } from '../support/infra/check-project.ts'
import { deployed, namesOf } from '../support/infra/deployed.ts'
import { projectFiles, projectFolder, readProjectText } from '../support/infra/project-facts.ts'

/** A list of all settings, and the guide of a command with variables of its own. */
const NO_GUIDES = ['infra/operations/settings.md', 'infra/operations/groups-as-code.md']
const GUIDES = [...projectFiles('.github/*.md'), ...projectFiles('infra/**/*.md')].filter(
  (file) => !NO_GUIDES.includes(file),
)
const guideText = GUIDES.map(readProjectText).join('\n')

/** The parameters of azd: the variable and its default, by name. */
const ofAzd = new Map(
  Object.entries(
    (JSON.parse(readProjectText('infra/main.parameters.json')) as { parameters: Record<string, { value: string }> })
      .parameters,
  ).map(([name, { value }]) => [name, /^\$\{(?<variable>\w+)(?:=(?<usual>.*))?\}$/.exec(value)?.groups] as const),
)

/** Parameters of the main template that are the value of an app setting, by setting. */
const parameterOfSetting = new Map(
  [...readProjectText('infra/modules/app-settings.bicep').matchAll(/^ {4}(\w+): (?:string\()?(\w+)\)?$/gm)]
    .map(([, setting = '', parameter = '']) => [setting, parameter] as const)
    .filter(([, parameter]) => new RegExp(`^    ${parameter}: ${parameter}$`, 'm').test(readProjectText(MAIN))),
)

const main = parseTemplates(readTemplateTexts(projectFolder)).templates.get(MAIN)
const parameters = main?.declarations.filter((declaration) => declaration.kind === 'parameter') ?? []

describe('what a guide tells to set', () => {
  const settings = [...parameterOfSetting].filter(([setting]) => guideText.includes(`\`${setting}\``))
  const named = parameters.map(({ name }) => name).filter((name) => guideText.includes(`\`${name}\``))

  it('is found in the guides', () => {
    assert.ok(settings.length >= 8 && named.length >= 10, `${settings.join(' ')}; ${named.join()}`)
  })

  for (const [setting, parameter] of settings) {
    it(`survives the next provisioning: ${setting}`, () => {
      assert.equal(ofAzd.get(parameter)?.variable, setting, 'a deployment replaces all app settings')
    })
  }

  for (const name of named) {
    it(`can be set with azd: ${name}`, () => {
      assert.ok(ofAzd.get(name))
    })
  }
})

describe('a variable of azd', () => {
  it('has the default of its parameter', () => {
    for (const { name, default: usual } of parameters) {
      const own = ofAzd.get(name)
      if (own?.usual === undefined || usual === undefined) continue
      assert.equal(own.usual, usual.text.replaceAll("'", ''), name)
    }
  })

  it('is described in the guide', () => {
    const guide = readProjectText('infra/README.md')
    for (const [name, own] of ofAzd) {
      if (name === 'environmentName' || name === 'location') continue
      assert.match(guide, new RegExp(`^\\| .*\`${own?.variable}\`.* \\| .*\`${name}\``, 'm'))
    }
  })
})

describe('the identity that signs in to the directories', () => {
  it('is another one when the parameter names it', () => {
    const IDENTITY = 'Microsoft.ManagedIdentity/userAssignedIdentities'
    const usual = namesOf(deployed({ environmentName: 'prod' }), IDENTITY)
    const rotated = namesOf(deployed({ environmentName: 'prod', graphIdentityName: 'id-next' }), IDENTITY)
    assert.deepEqual(
      rotated,
      usual.map((name) => (name.endsWith('-graph') ? 'id-next' : name)),
    )
    assert.notDeepEqual(rotated, usual)
    assert.match(readProjectText('infra/operations/README.md'), /azd env set GRAPH_IDENTITY_NAME /)
  })
})
