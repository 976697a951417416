import assert from 'node:assert/strict'
import { basename } from 'node:path'
import { describe, it } from 'node:test'
import { projectFiles, readProjectText } from '../support/infra/project-facts.ts'

const files = [
  ...projectFiles('.github/workflows/*.yml'),
  // For repositories of definitions.
  'infra/definitions/pull-request.yml',
]
const previewed = readProjectText('.github/workflows/infrastructure.yml')

/** What the jobs of a workflow may write: Azure by its identity, signed provenance, results of a scan. */
const MAY_WRITE: Readonly<Record<string, readonly string[]>> = {
  'infrastructure.yml': ['id-token: write'],
  'pull-request.yml': ['id-token: write', 'pull-requests: write'],
  'release.yml': ['attestations: write', 'id-token: write'],
  'security.yml': ['security-events: write'],
  'service.yml': [],
}

/** External actions are pinned to a commit. */
const PINNED = /^\s+(?:- )?uses: [\w.-]+\/[\w./-]+@[\da-f]{40} # v\d+\.\d+\.\d+$/

describe('the workflows', () => {
  for (const file of files) {
    const lines = readProjectText(file).split('\n')

    it(`pin actions to a commit with a version comment: ${file}`, () => {
      const uses = lines.filter((line) => /^\s*(- )?uses:/.test(line))
      assert.ok(uses.length > 0)
      assert.deepEqual(
        uses.filter((line) => !PINNED.test(line)),
        [],
      )
    })

    it(`have only the permissions of their jobs: ${file}`, () => {
      assert.ok(lines.includes('permissions: {}'))
      const granted = new Set(lines.flatMap((line) => /^ {6}([a-z-]+: write)$/.exec(line)?.[1] ?? []))
      assert.deepEqual([...granted].sort(), MAY_WRITE[basename(file)])
      assert.ok(!lines.some((line) => /: write-all|^\s+\S+: write$/.test(line) && !/^ {6}[a-z-]+: write$/.test(line)))
    })

    it(`have steps whose names say what they do: ${file}`, () => {
      const steps = lines.filter((line) => /^ {6}- /.test(line))
      assert.ok(steps.length > 0)
      assert.deepEqual(
        steps.filter((line) => !/^ {6}- name: [A-Z]\w+( \S+)+$/.test(line)),
        [],
      )
    })

    it(`do not persist checkout credentials: ${file}`, () => {
      const checkouts = lines.filter((line) => line.includes('uses: actions/checkout@'))
      const left = lines.filter((line) => line.trim() === 'persist-credentials: false')
      assert.equal(left.length, checkouts.length)
    })
  }

  it('run the Node.js version that the scripts run', () => {
    const { devDependencies } = JSON.parse(readProjectText('package.json')) as { devDependencies: { node: string } }
    assert.equal(readProjectText('.node-version').trim(), devDependencies.node)
    for (const file of files) {
      const setUps = readProjectText(file).split('uses: actions/setup-node@').slice(1)
      for (const setUp of setUps) assert.match(setUp, /^.*\n\s+with:\n\s+node-version-file: \.node-version\n/)
    }
  })

  it('compile, lint, validate and preview the templates without secrets', () => {
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

  it('set every parameter without default in every previewed environment', () => {
    const environments = /environment: \[([\w, ]+)\]/.exec(previewed)?.[1]?.split(', ') ?? []
    assert.ok(environments.length > 0)
    const main = readProjectText('infra/main.bicep')
    const required = [...main.matchAll(/^param (\w+) \w+$/gm)].map(([, name = '']) => name)
    assert.deepEqual(['environmentName', 'location', 'serviceClientId', 'alertEmail', 'tenants'], required)
    for (const environment of environments) {
      const { parameters } = JSON.parse(readProjectText(`infra/${environment}.parameters.json`))
      const isSet = (name: string) => name in parameters || previewed.split(`${name}="$`).length - 1 === 2
      assert.deepEqual(
        required.filter((name) => !isSet(name)),
        [],
      )
    }
  })
})

for (const name of ['service', 'release']) {
  it(`The workflow ${name} checks out the history, which has the previous release`, () => {
    const lines = readProjectText(`.github/workflows/${name}.yml`).split('\n')
    const checkouts = lines.filter((line) => line.includes('uses: actions/checkout@'))
    assert.equal(lines.filter((line) => line.trim() === 'fetch-depth: 0').length, checkouts.length)
  })
}
