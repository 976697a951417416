import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { readDefinitionFiles } from '../../infra/definitions/definition-file.ts'
import { LinkSettingsChange } from '../../shared/domain/group-links/link-settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'definitions-kinds-'))
after(() => rmSync(folder, { recursive: true }))

/** What a file with the text is read as. */
function read(text: string): { kinds: string[]; faults: string[] } {
  writeFileSync(join(folder, 'settings.yaml'), text)
  const { files, faults } = readDefinitionFiles(folder)
  return { kinds: files.map(({ kind }) => kind), faults: faults.map(({ message }) => message) }
}

const SETTINGS = {
  linkableGroups: 'Owned',
  removalGuard: '{ percent: 20 }',
  timeZone: 'Europe/Oslo',
  operators: '[operators@example.org]',
  language: 'no',
} as const

describe('A file of definitions', () => {
  it('can have any one of the settings of a tenant', () => {
    assert.deepEqual(Object.keys(SETTINGS), Object.keys(LinkSettingsChange.properties))
    for (const [name, value] of Object.entries(SETTINGS)) {
      assert.deepEqual(read(`${name}: ${value}\n`), { kinds: ['settings'], faults: [] }, name)
    }
  })

  it('is refused with the names of all settings when it defines nothing', () => {
    const { kinds, faults } = read('colour: red\n')
    assert.deepEqual([kinds, faults.length], [[], 1])
    for (const name of Object.keys(SETTINGS)) assert.match(faults[0] ?? '', new RegExp(`\\b${name}\\b.*\\(settings\\)`))
  })
})
