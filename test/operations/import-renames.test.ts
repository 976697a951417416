import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { type ConnectorSpace, nameOf, type SpaceItem, type SpaceObject } from '../../infra/import/connector-space.ts'
import { importLines } from '../support/operations/imported-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'import-renames-'))
after(() => rmSync(folder, { recursive: true }))

type Stored = Pick<SpaceObject, 'objectType' | 'externalId'> & Partial<SpaceObject>

/** The items that the API gets, and what the import prints, when the API refuses some items. */
async function imported(
  stored: readonly Stored[],
  lines: readonly object[],
  isRefused: (item: SpaceItem) => boolean = () => false,
) {
  const sent: string[] = []
  const space: ConnectorSpace = {
    readTypes: async () => new Map(),
    readAll: async () => new Map(stored.map((each) => [nameOf(each), { digest: '', keys: [], ...each }])),
    write: async (items) => {
      sent.push(...items.map(({ op, objectType, externalId }) => `${op} ${objectType} ${externalId}`))
      return items.map((item, index) => ({
        index,
        status: isRefused(item) ? 409 : 200,
        errors: [{ message: 'It is in use' }],
      }))
    },
  }
  return { ...(await importLines(folder, lines, space)), sent }
}

const identity = (externalId: string, more: object = {}, data: object = {}) => ({
  ...{ objectType: 'identity', externalId, ...more },
  data,
})
const position = (externalId: string, holder: string, unit?: string) => ({
  ...{ objectType: 'relationship', externalId },
  data: { identity: { externalId: holder }, ...(unit && { orgUnit: { externalId: unit } }) },
})
const INVALID = { displayName: 7 }
const storedIdentity = (externalId: string, ...keys: string[]): Stored => ({
  ...{ objectType: 'identity', externalId, keys },
})
const storedPosition = (externalId: string, holder: string): Stored => ({
  ...{ objectType: 'relationship', externalId, holder },
})

describe('A position whose line names the new external id of an object', () => {
  const unrenamed = (name: string) => `it refers to ${name}, the new name of an object that is not renamed`

  for (const keys of [[], ['nin 7']])
    it(`stays with a person whose rename is invalid, who has ${keys.length === 0 ? 'no key' : 'a key'}`, async () => {
      const stored = [storedIdentity('old', ...keys), storedPosition('job', 'old')]
      const data = { ...INVALID, ...(keys.length > 0 && { nin: '7' }) }
      const lines = [identity('new', { previousExternalId: 'old' }, data), position('job', 'new')]
      const { code, sent, said } = await imported(stored, lines)
      assert.deepEqual([code, sent], [1, []])
      assert.deepEqual(said.slice(-2), [`2: ${unrenamed('identity new')}`, 'Done: 0 written, 0 unchanged, 2 failed'])
    })

  it('stays in a unit whose rename is invalid', async () => {
    const stored: Stored[] = [{ objectType: 'orgUnit', externalId: 'old' }, storedPosition('job', 'ada')]
    const unit = { objectType: 'orgUnit', externalId: 'new', previousExternalId: 'old', data: INVALID }
    const { sent, said } = await imported(stored, [unit, identity('ada'), position('job', 'ada', 'new')])
    assert.deepEqual(sent, ['upsert identity ada'])
    assert.equal(said.at(-2), `3: ${unrenamed('orgUnit new')}`)
  })

  it('goes to no other person who has the name, because the rename of that one is invalid', async () => {
    const stored = [storedIdentity('a'), storedIdentity('b'), storedPosition('job', 'a')]
    const lines = [
      identity('c', { previousExternalId: 'b' }, INVALID),
      identity('b', { previousExternalId: 'a' }),
      position('job', 'b'),
      position('new job', 'b'),
    ]
    const { sent } = await imported(stored, lines)
    assert.deepEqual(sent, [])
  })

  it('stays where it is when the API refuses the rename', async () => {
    const stored = [storedIdentity('a'), storedIdentity('b'), storedPosition('job', 'a'), storedPosition('work', 'b')]
    const lines = [
      identity('c', { previousExternalId: 'b' }),
      identity('b', { previousExternalId: 'a' }),
      position('job', 'b'),
      position('work', 'c'),
    ]
    const { code, sent, said } = await imported(stored, lines, ({ externalId }) => externalId === 'c')
    assert.deepEqual([code, sent], [1, ['upsert identity c']])
    assert.deepEqual(said.slice(-5), [
      '1: It is in use',
      '2: identity b is still the name of an object that was not renamed',
      `3: ${unrenamed('identity b')}`,
      `4: ${unrenamed('identity c')}`,
      'Done: 0 written, 0 unchanged, 4 failed',
    ])
  })

  it('is sent when the object has the name already, though its line is invalid or refused', async () => {
    const stored = [storedIdentity('new'), storedIdentity('old'), storedIdentity('now'), storedPosition('job', 'new')]
    const lines = [
      identity('new', { previousExternalId: 'old' }, INVALID),
      identity('now', { previousExternalId: 'gone' }),
      position('job', 'new'),
      position('work', 'now'),
    ]
    const { sent } = await imported(stored, lines, ({ externalId }) => externalId === 'now')
    assert.deepEqual(sent, ['upsert identity now', 'upsert relationship job', 'upsert relationship work'])
  })
})

describe('A person whose former name another person has', () => {
  it('does not keep that person from a change that the API accepts, when it refuses their own', async () => {
    const lines = [identity('c', { previousExternalId: 'b' }), identity('b', { previousExternalId: 'a' })]
    const stored = [storedIdentity('b'), storedIdentity('c')]
    const { code, sent, said } = await imported(stored, lines, ({ externalId }) => externalId === 'c')
    assert.deepEqual([code, sent], [1, ['upsert identity c', 'upsert identity b']])
    assert.deepEqual(said.slice(-2), ['1: It is in use', 'Done: 1 written, 0 unchanged, 1 failed'])
  })

  it('does not get the data of that person while the API refuses their rename for a clash', async () => {
    const lines = [identity('c', { previousExternalId: 'b' }, { nin: '2' }), identity('b', {}, { nin: '9' })]
    const stored = [storedIdentity('b', 'nin 2'), storedIdentity('c', 'nin 7')]
    const { code, sent, said } = await imported(stored, lines, ({ externalId }) => externalId === 'c')
    assert.deepEqual([code, sent], [1, ['upsert identity c']])
    assert.equal(said.at(-2), '2: identity b is still the name of an object that was not renamed')
  })
})
