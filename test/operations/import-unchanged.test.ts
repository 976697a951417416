import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type ConnectorSpace, nameOf, type SpaceObject } from '../../infra/import/connector-space.ts'
import { digestOfData } from '../../infra/import/plan-import.ts'
import { importLines } from '../support/operations/imported-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'import-unchanged-'))
after(() => rmSync(folder, { recursive: true }))

const SCHOOL = { objectType: 'orgUnit', externalId: 'school', data: {} } as const
const person = (externalId: string, more: object = {}) => ({
  ...({ objectType: 'identity', externalId, data: {} } as const),
  ...more,
})
const INVALID = { data: { displayName: 7 } }

/** Imports lines into a connector with a school, Ada and Bo, and deletes what is missing. */
async function imported(lines: readonly object[], refusedNames: readonly string[] = []) {
  const stored: SpaceObject[] = [SCHOOL, person('ada'), person('bo')].map(({ objectType, externalId, data }) => ({
    ...{ objectType, externalId, digest: digestOfData(data), keys: [] },
  }))
  const sent: string[] = []
  const space: ConnectorSpace = {
    readTypes: async () => new Map(),
    readAll: async () => new Map(stored.map((object) => [nameOf(object), object])),
    write: async (items) => {
      sent.push(...items.map((item) => [item.op, item.externalId, item.previousExternalId].filter(Boolean).join(' ')))
      return items.map(({ externalId }, index) => {
        const status = refusedNames.includes(externalId) ? 409 : 200
        return { index, status, errors: [{ message: 'It is in use' }], warnings: [{ target: '/items/0/data/manager' }] }
      })
    },
  }
  return { ...(await importLines(folder, lines, space)), sent }
}

describe('An import', () => {
  it('sends one object as it is when nothing has changed, an identity rather than a unit, without its warnings', async () => {
    assert.deepEqual(await imported([SCHOOL, person('ada', { previousExternalId: 'bo' }), person('bo')]), {
      ...{ code: 0, sent: ['upsert ada'], said: ['Done: 0 written, 3 unchanged, 0 failed'] },
    })
  })

  it('sends one unchanged object when the API has refused all changes, and counts one that it refuses as well', async () => {
    const lines = [SCHOOL, person('ada', INVALID), person('bo', INVALID), person('new')]
    const refused = await imported(lines, ['new'])
    assert.deepEqual([refused.code, refused.sent], [1, ['upsert new', 'upsert school']])
    assert.equal(refused.said.at(-1), 'Done: 0 written, 1 unchanged, 3 failed')
    const all = await imported(lines, ['new', 'school'])
    assert.deepEqual([all.code, all.said.at(-1)], [1, 'Done: 0 written, 0 unchanged, 4 failed'])
    assert.ok(all.said.includes('1: It is in use'))
  })

  it('sends no unchanged object after a change or a deletion, and nothing of lines that are all invalid', async () => {
    assert.deepEqual((await imported([SCHOOL, person('ada'), person('bo'), person('new')])).sent, ['upsert new'])
    assert.deepEqual((await imported([SCHOOL, person('ada')])).sent, ['delete bo'])
    const invalid = await imported([person('ada', INVALID), person('bo', INVALID)])
    assert.deepEqual([invalid.code, invalid.sent], [1, []])
  })
})
