import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type FileEntry, readImportFile } from '../../infra/import/import-file.ts'
import type { CustomTypes } from '../../shared/domain/core/custom-types.ts'

const folder = mkdtempSync(join(tmpdir(), 'import-'))
after(() => rmSync(folder, { recursive: true }))

async function read(name: string, text: string, types?: CustomTypes): Promise<object[]> {
  const file = join(folder, name)
  writeFileSync(file, text)
  const entries: FileEntry[] = []
  for await (const entry of readImportFile(file, 'utf-8', () => undefined, types)) entries.push(entry)
  return entries.map(({ file: _file, line: _line, ...rest }) => rest)
}

describe('The columns of a file', () => {
  it('have the names of attributes, or those that conditions have for the type of the file', async () => {
    const text =
      'identityExternalId;identityDisplayName;email;identityCustom/badge;identityPrimaryRelationship;orgUnitEmail\n' +
      'a;Ada;a@example.org;7;job;x\n'
    assert.deepEqual(await read('identities.csv', text), [
      {
        objectType: 'identity',
        externalId: 'a',
        data: {
          displayName: 'Ada',
          email: 'a@example.org',
          'custom/badge': '7',
          primaryRelationship: { externalId: 'job' },
          // Of another type: the check of the data refuses it.
          orgUnitEmail: 'x',
        },
      },
    ])
  })

  it('are those of each line where a column names the type', async () => {
    const text = 'objectType,externalId,orgUnitDisplayName,identityDisplayName\norgUnit,u,Shop,\nidentity,a,,Ada\n'
    assert.deepEqual(await read('all.csv', text), [
      { objectType: 'orgUnit', externalId: 'u', data: { displayName: 'Shop' } },
      { objectType: 'identity', externalId: 'a', data: { displayName: 'Ada' } },
    ])
  })

  it('have lists where the attribute is of type StringList', async () => {
    const types = new Map([['identityCustom/courses', 'StringList'] as const])
    const text = 'externalId,custom/courses,custom/grade,custom/other\na,First aid | Fire safety,9,b|c\n'
    const data = { 'custom/courses': ['First aid', 'Fire safety'], 'custom/grade': '9', 'custom/other': 'b|c' }
    assert.deepEqual(await read('identities.csv', text, types), [{ objectType: 'identity', externalId: 'a', data }])
  })

  it('are refused when two are the same attribute', async () => {
    await assert.rejects(read('identities.csv', 'externalId,email,identityEmail\na,b,c\n'), /duplicate column email/)
  })

  it('can name the former external id, as JSON lines can, or none', async () => {
    const csv = await read('identities.csv', 'externalId,previousExternalId\nb,a\nc,\n')
    assert.deepEqual(csv, [
      { objectType: 'identity', externalId: 'b', previousExternalId: 'a', data: {} },
      { objectType: 'identity', externalId: 'c', data: {} },
    ])
    const json = ['"a"', 'null', '1'].map((name) => `{"externalId":"b","previousExternalId":${name},"data":{}}\n`)
    assert.deepEqual(await read('orgunits.jsonl', json.join('')), [
      { objectType: 'orgUnit', externalId: 'b', previousExternalId: 'a', data: {} },
      { objectType: 'orgUnit', externalId: 'b', data: {} },
      { reason: 'previousExternalId must be a string' },
    ])
  })
})
