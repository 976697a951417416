import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { projectFiles, readProjectText } from './project-facts.ts'

const files = projectFiles('.github/workflows/*.yml')
const previewed = readProjectText('.github/workflows/infrastructure.yml')

/** Whatever is taken from elsewhere is taken as it was when it was looked at. */
const PINNED = /^\s+(?:- )?uses: [\w.-]+\/[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/

describe('the workflows', () => {
  for (const file of files) {
    const lines = readProjectText(file).split('\n')

    it(`take actions by their commits, and say which version that is: ${file}`, () => {
      const uses = lines.filter((line) => /^\s*(- )?uses:/.test(line))
      assert.ok(uses.length > 0)
      assert.deepEqual(
        uses.filter((line) => !PINNED.test(line)),
        [],
      )
    })

    it(`have no rights but those that a job names: ${file}`, () => {
      assert.ok(lines.includes('permissions: {}'))
      const granted = new Set(lines.map((line) => /^\s+[a-z-]+: write$/.exec(line)?.[0].trim()).filter(Boolean))
      assert.ok(granted.size <= 1 && [...granted].every((right) => right === 'id-token: write'))
    })

    it(`leave no credentials of the checkout behind: ${file}`, () => {
      const checkouts = lines.filter((line) => line.includes('uses: actions/checkout@'))
      const left = lines.filter((line) => line.trim() === 'persist-credentials: false')
      assert.equal(left.length, checkouts.length)
    })
  }

  it('compile and lint the templates, and show what they would change, without any secret', () => {
    for (const command of [
      'az bicep build',
      'az bicep lint',
      'az deployment sub validate',
      'az deployment sub what-if',
    ]) {
      assert.match(previewed, new RegExp(`${command} [^\\n]*infra/main\\.bicep`))
    }
    assert.match(previewed, /id-token: write/)
    assert.doesNotMatch(previewed, /secrets\./)
  })

  it('give every parameter that has no default, in every environment that is previewed', () => {
    const environments = /environment: \[([\w, ]+)\]/.exec(previewed)?.[1]?.split(', ') ?? []
    assert.ok(environments.length > 0)
    const main = readProjectText('infra/main.bicep')
    const required = [...main.matchAll(/^param (\w+) \w+$/gm)].map(([, name = '']) => name)
    assert.deepEqual(['environmentName', 'location', 'serviceClientId', 'alertEmail'], required)
    for (const environment of environments) {
      const { parameters } = JSON.parse(readProjectText(`infra/${environment}.parameters.json`))
      const given = (name: string) => name in parameters || previewed.split(`${name}="$`).length - 1 === 2
      assert.deepEqual(
        required.filter((name) => !given(name)),
        [],
      )
    }
  })
})
