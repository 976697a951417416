import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nameOf, type SpaceObject } from '../../infra/import/connector-space.ts'
import type { FileEntry } from '../../infra/import/import-file.ts'
import { digestOfData, planImport } from '../../infra/import/plan-import.ts'

const person = (externalId: string) => ({ objectType: 'identity', externalId }) as const

/**
 * What is sent in which round for the lines of people, with names such as `new<old`, or `new<old#nin`.
 * @param presentNames Of the people who exist, with `=` if their data are as in the line of that name, otherwise others,
 * and with `#` and their `nin`.
 */
async function planned(names: readonly string[], presentNames: readonly string[]): Promise<string[]> {
  const stored = presentNames.map((name): SpaceObject => {
    const [externalId = '', nin] = name.replace('=', '').split('#')
    const digest = name.includes('=') ? digestOfData({ displayName: externalId }) : ''
    return { ...person(externalId), digest, keys: nin === undefined ? [] : [`nin ${nin}`] }
  })
  async function* entries(): AsyncGenerator<FileEntry> {
    for (const [index, name] of names.entries()) {
      const [people = '', nin] = name.replace('!', '').split('#')
      const [externalId = '', previousExternalId] = people.split('<')
      const former = previousExternalId === undefined ? {} : { previousExternalId }
      const data = { displayName: name.endsWith('!') ? 7 : externalId, ...(nin !== undefined && { nin }) }
      yield { file: 'all', line: index + 1, ...person(externalId), ...former, data }
    }
  }
  const { items } = await planImport(entries(), new Map(stored.map((object) => [nameOf(object), object])), true)
  return items.map(({ item: { op, externalId, previousExternalId }, round }) =>
    [round, op, externalId, previousExternalId].filter((part) => part !== undefined).join(' '),
  )
}

const LINES = ['b<a', 'c<b', 'a']

describe('An import whose files keep the former names of people', () => {
  it('hands each name on once, in a first run, in the rest of an interrupted one, and not in a later one', async () => {
    assert.deepEqual(await planned(LINES, ['a', 'b']), ['0 upsert c b', '1 upsert b a', '2 upsert a'])
    assert.deepEqual(await planned(LINES, ['a', 'c=']), ['0 upsert b a', '1 upsert a'])
    assert.deepEqual(await planned(LINES, ['b=', 'c=']), ['0 upsert a'])
    assert.deepEqual(await planned(LINES, ['a=', 'b=', 'c']), ['0 upsert c'])
    assert.deepEqual(await planned(LINES, ['a=', 'b', 'c=']), ['0 upsert b'])
    assert.deepEqual(await planned(LINES, ['a', 'b', 'c']), ['0 upsert b', '0 upsert c', '0 upsert a'])
  })

  it('sends the others when the line of one of them is invalid', async () => {
    assert.deepEqual(await planned(['b<a!', 'c<b', 'a'], ['a', 'b', 'c']), ['0 upsert c', '0 upsert a'])
    assert.deepEqual(await planned(['b<a', 'c<b!', 'a'], ['a', 'b', 'c']), ['0 upsert b', '0 upsert a'])
  })

  it('renames people again who have the name of a person that is renamed', async () => {
    assert.deepEqual(await planned(['c<b', 'd<c', 'b'], ['b', 'c']), ['0 upsert d c', '1 upsert c b', '2 upsert b'])
  })

  it('leaves a clash to the API while nothing tells that the name was handed on', async () => {
    assert.deepEqual(await planned(['c<b'], ['b', 'c']), ['0 upsert c b'])
    assert.deepEqual(await planned(['b<a', 'c<b'], ['a', 'b', 'c']), ['0 upsert c b', '1 upsert b a'])
    assert.deepEqual(await planned(['b<a', 'c<b'], ['a', 'b=', 'c']), ['0 upsert c', '0 delete a'])
    assert.deepEqual(await planned(['b<a', 'a<b'], ['a', 'b']), [])
  })

  it('leaves a clash to the API when the object of the new name has neither the data nor a key of the person', async () => {
    const lines = ['b<a#1', 'c<b#2', 'a#3']
    const clash = ['0 upsert c b', '1 upsert b a', '2 upsert a']
    assert.deepEqual(await planned(lines, ['a#1', 'b#2', 'c#9']), clash)
    assert.deepEqual(await planned(lines, ['a#3', 'b#1', 'c#2']), ['0 upsert b', '0 upsert c', '0 upsert a'])
    assert.deepEqual(await planned(lines, ['a#3', 'b#1', 'c']), clash)
    // A person who gets another key with the name, which another one had who has left.
    assert.deepEqual(await planned(['c<b#8', 'b#9'], ['b#2', 'c#7']), ['0 upsert c b', '1 upsert b'])
    assert.deepEqual(await planned(['c<b#8', 'b#9'], ['b#2', 'c#8']), ['0 upsert c', '0 upsert b'])
  })

  it('leaves a clash to the API when nobody but the person of the former name has a key', async () => {
    assert.deepEqual(await planned(['c<b', 'b'], ['b#2', 'c']), ['0 upsert c b', '1 upsert b'])
  })

  it('follows names through as many lines as a file has', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => (index === 0 ? 'p0' : `p${index}<p${index - 1}`))
    const names = lines.map((line) => line.split('<')[0] ?? '')
    const first = await planned(lines, names.slice(0, -1))
    assert.deepEqual([first[0], first.at(-1)], ['0 upsert p19999 p19998', '19999 upsert p0'])
    assert.deepEqual(
      await planned(lines, names),
      names.map((name) => `0 upsert ${name}`),
    )
  })
})
