import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nameOf } from '../../infra/import/connector-space.ts'
import type { FileEntry } from '../../infra/import/import-file.ts'
import { digestOfData, planImport } from '../../infra/import/plan-import.ts'
import type { ObjectType } from '../../shared/domain/core/core-object.ts'

const object = (objectType: ObjectType, externalId: string) => ({ objectType, externalId })

describe('The plan of an import', () => {
  it('writes objects after those that they refer to, and deletes them before', async () => {
    const data = { displayName: 'New' }
    const position = { identity: { externalId: 'new' }, orgUnit: { externalId: 'new' } }
    async function* entries(): AsyncGenerator<FileEntry> {
      yield { file: 'all', line: 1, ...object('relationship', 'new'), data: position }
      yield { file: 'all', line: 2, ...object('identity', 'new'), data }
      yield { file: 'all', line: 3, ...object('orgUnit', 'new'), data }
    }
    const former = [object('orgUnit', 'old'), object('relationship', 'old'), object('identity', 'old')]
    const present = new Map(former.map((each) => [nameOf(each), { ...each, digest: '', keys: [] }]))
    const { items, invalidLines } = await planImport(entries(), present, true)
    assert.deepEqual(invalidLines, [])
    assert.deepEqual(
      items.map(({ item }) => `${item.op} ${item.objectType}`),
      [
        'upsert orgUnit',
        'upsert identity',
        'upsert relationship',
        'delete relationship',
        'delete identity',
        'delete orgUnit',
      ],
    )
  })

  it('renames an object of the former name, which is not missing, and sends one of both names as it is', async () => {
    async function* entries(): AsyncGenerator<FileEntry> {
      yield { file: 'all', line: 1, ...object('identity', 'new'), previousExternalId: 'old', data: {} }
      yield { file: 'all', line: 2, ...object('identity', 'first'), previousExternalId: 'unknown', data: {} }
      yield { file: 'all', line: 3, ...object('identity', 'same'), previousExternalId: 'gone', data: {} }
    }
    const former = [object('identity', 'old'), object('identity', 'same'), object('identity', 'gone')]
    const digest = digestOfData({})
    const present = new Map(former.map((each) => [nameOf(each), { ...each, digest, keys: [] }]))
    const { items, counts } = await planImport(entries(), present, true)
    assert.deepEqual(
      items.map(({ item: { op, externalId, previousExternalId } }) => [op, externalId, previousExternalId]),
      [
        ['upsert', 'new', 'old'],
        ['upsert', 'first', 'unknown'],
        ['delete', 'gone', undefined],
      ],
    )
    assert.deepEqual([counts.created, counts.updated, counts.unchanged, counts.deleted], [1, 1, 1, 1])
  })

  it('keeps the object of a line whose data are invalid, and deletes nothing while a line has no name', async () => {
    const former = [object('identity', 'kept'), object('identity', 'gone')]
    const present = new Map(former.map((each) => [nameOf(each), { ...each, digest: '', keys: [] }]))
    const line = { file: 'all', line: 1 }
    async function* invalid(): AsyncGenerator<FileEntry> {
      yield { ...line, ...object('identity', 'kept'), data: { displayName: 7 } }
    }
    const { items, invalidLines } = await planImport(invalid(), present, true)
    assert.deepEqual(
      items.map(({ item: { op, externalId } }) => [op, externalId]),
      [['delete', 'gone']],
    )
    assert.equal(invalidLines.length, 1)
    async function* unnamed(): AsyncGenerator<FileEntry> {
      yield* invalid()
      yield { ...line, reason: 'externalId is required' }
    }
    const withheld = await planImport(unnamed(), present, true)
    assert.deepEqual([withheld.items, withheld.withholdsDeletions], [[], true])
  })

  it('deletes no objects of a type that no line has, and names these types', async () => {
    const former = (['orgUnit', 'identity', 'relationship'] as const).map((objectType) => object(objectType, 'gone'))
    const present = new Map(former.map((each) => [nameOf(each), { ...each, digest: '', keys: [] }]))
    async function* entries(): AsyncGenerator<FileEntry> {
      yield { file: 'all', line: 1, ...object('identity', 'new'), data: {} }
    }
    const { items, counts, typesWithoutLines } = await planImport(entries(), present, true)
    assert.deepEqual(
      items.map(({ item: { op, objectType, externalId } }) => [op, objectType, externalId]),
      [
        ['upsert', 'identity', 'new'],
        ['delete', 'identity', 'gone'],
      ],
    )
    assert.deepEqual([counts.deleted, counts.missing, typesWithoutLines], [1, 1, ['orgUnit', 'relationship']])
  })

  /** The lines of people, with names such as `new<old`, and the people who exist: what is sent in which round. */
  async function planPeople(names: readonly string[], presentNames: readonly string[], data: object = {}) {
    const present = new Map(
      presentNames.map((name) => [
        `identity ${name}`,
        { ...object('identity', name), digest: digestOfData(data), keys: [] },
      ]),
    )
    async function* entries(): AsyncGenerator<FileEntry> {
      for (const [index, name] of names.entries()) {
        const [externalId = '', previousExternalId] = name.replace('!', '').split('<')
        const names = { ...object('identity', externalId), ...(previousExternalId && { previousExternalId }) }
        yield { file: 'all', line: index + 1, ...names, data: { displayName: name.endsWith('!') ? 7 : name } }
      }
    }
    const { items, invalidLines } = await planImport(entries(), present, true)
    const sent = items.map(({ item: { op, externalId, previousExternalId }, round }) =>
      [round, op, externalId, previousExternalId].filter((part) => part !== undefined).join(' '),
    )
    return { sent, invalid: invalidLines.map(({ line, reason }) => `${line}: ${reason}`) }
  }

  it('keeps the object that an invalid line renames, and one that the API does not rename', async () => {
    const { sent, invalid } = await planPeople(['new<old!'], ['old', 'gone'])
    assert.deepEqual(sent, ['0 delete gone'])
    assert.equal(invalid.length, 1)
    assert.deepEqual((await planPeople(['b<a'], ['a', 'b'])).sent, ['0 upsert b a'])
  })

  it('sends no object to which it would give the external id . or .., which a URL path cannot contain', async () => {
    const { sent, invalid } = await planPeople(['.', '..<old', 'a'], ['old', 'gone'])
    assert.deepEqual(sent, ['0 upsert a', '0 delete gone'])
    assert.deepEqual(invalid, [
      '1: A URL path cannot contain the external id .',
      '2: A URL path cannot contain the external id ..',
    ])
    assert.deepEqual((await planPeople(['.', '..!', 'a<..'], ['.', '..'])).sent, ['0 upsert .', '0 upsert a ..'])
  })

  it('renames an object before another gets its name, whatever the order of the lines', async () => {
    const chain = ['0 upsert d c', '1 upsert c b', '2 upsert b a']
    assert.deepEqual((await planPeople(['b<a', 'd<c', 'c<b'], ['a', 'b', 'c'])).sent, chain)
    assert.deepEqual((await planPeople(['d<c', 'c<b', 'b<a'], ['a', 'b', 'c'])).sent, chain)
    assert.deepEqual((await planPeople(['b', 'c<b'], ['b'])).sent, ['0 upsert c b', '1 upsert b'])
  })

  it('sends an object whose data are those of the former object of its name', async () => {
    const data = { displayName: 'b' }
    assert.deepEqual((await planPeople(['c<b', 'b'], ['b'], data)).sent, ['0 upsert c b', '1 upsert b'])
  })

  it('sends no object whose name an invalid line keeps from another, nor one of a circle', async () => {
    const { sent, invalid } = await planPeople(['c<b!', 'b<a', 'a'], ['a', 'b'])
    assert.deepEqual(sent, [])
    assert.deepEqual(invalid.slice(1), [
      '2: identity b is the former name in all:1, which is invalid',
      '3: identity a is the former name in all:2, which is invalid',
    ])
    const circle = await planPeople(['a<b', 'b<a'], ['a', 'b'])
    assert.deepEqual(circle.sent, [])
    assert.deepEqual(circle.invalid, [
      '2: identity b is the former name in all:1, which depends on this line',
      '1: identity a is the former name in all:2, which is invalid',
    ])
  })

  it('goes on with renames after an interruption', async () => {
    assert.deepEqual((await planPeople(['c<b', 'b<a'], ['c', 'a'], { displayName: 'c<b' })).sent, ['0 upsert b a'])
  })

  it('sends objects that refer to a name that another object gets at last, also those that are unchanged', async () => {
    const unit = { manager: { externalId: 'b' } }
    const position = { identity: { externalId: 'c' } }
    const present = new Map(
      [object('orgUnit', 'same'), object('orgUnit', 'new'), object('identity', 'a'), object('identity', 'b')].map(
        (each) => [nameOf(each), { ...each, digest: each.externalId === 'same' ? digestOfData(unit) : '', keys: [] }],
      ),
    )
    async function* entries(): AsyncGenerator<FileEntry> {
      yield { file: 'all', line: 1, ...object('orgUnit', 'same'), data: unit }
      yield { file: 'all', line: 2, ...object('orgUnit', 'second'), previousExternalId: 'new', data: unit }
      yield { file: 'all', line: 3, ...object('identity', 'b'), previousExternalId: 'a', data: {} }
      yield { file: 'all', line: 4, ...object('identity', 'c'), previousExternalId: 'b', data: {} }
      yield { file: 'all', line: 5, ...object('relationship', 'job'), data: position }
    }
    const { items, counts } = await planImport(entries(), present, true)
    assert.deepEqual(
      items.map(({ item, isRepeated }) => [item.externalId, item.previousExternalId, isRepeated]),
      [
        ['second', 'new', false],
        ['c', 'b', false],
        ['b', 'a', false],
        ['job', undefined, false],
        ['same', undefined, false],
        ['second', undefined, true],
      ],
    )
    assert.deepEqual([counts.created, counts.updated, counts.unchanged], [1, 4, 0])
  })

  it('keeps together what gives a person another external id, by any of the keys', async () => {
    const former = [
      { ...object('identity', 'old ada'), keys: ['nin 1', 'email ada@x'] },
      { ...object('identity', 'old bo'), keys: ['email bo@x'] },
      { ...object('identity', 'gone'), keys: ['nin 3'] },
      { ...object('identity', 'kept'), keys: ['nin 4'] },
      { ...object('relationship', 'old job'), keys: [] },
    ]
    const present = new Map(former.map((each) => [nameOf(each), { ...each, digest: '' }]))
    const of = (externalId: string) => ({ identity: { externalId } })
    async function* entries(): AsyncGenerator<FileEntry> {
      yield { file: 'all', line: 1, ...object('identity', 'new ada'), data: { nin: '1', email: 'other@x' } }
      yield { file: 'all', line: 2, ...object('identity', 'new bo'), data: { email: 'BO@x' } }
      yield { file: 'all', line: 3, ...object('identity', 'kept'), data: { nin: '4' } }
      yield { file: 'all', line: 4, ...object('identity', 'new'), data: { nin: '5' } }
      yield { file: 'all', line: 5, ...object('orgUnit', 'new ada'), data: {} }
      for (const name of ['new ada', 'kept', 'new']) {
        yield { file: 'all', line: 6, ...object('relationship', `job of ${name}`), data: of(name) }
      }
    }
    const { items } = await planImport(entries(), present, true)
    assert.deepEqual(
      items.flatMap(({ item, person }) =>
        person ? [`${person}: ${item.op} ${item.objectType} ${item.externalId}`] : [],
      ),
      [
        'old ada: upsert identity new ada',
        'old bo: upsert identity new bo',
        'old ada: upsert relationship job of new ada',
        'old bo: delete identity old bo',
        'old ada: delete identity old ada',
      ],
    )
    const withoutDeletions = await planImport(entries(), present, false)
    assert.ok(withoutDeletions.items.every(({ person }) => person === undefined))
  })

  it('keeps a person whose key, a text or a number, an invalid line gives to somebody who is there without it', async () => {
    const present = new Map([
      [nameOf(object('identity', 'old')), { ...object('identity', 'old'), digest: '', keys: ['nin 7'] }],
      [nameOf(object('identity', 'there')), { ...object('identity', 'there'), digest: '', keys: ['email a@x'] }],
    ])
    async function* entries(nin: string | number): AsyncGenerator<FileEntry> {
      yield { file: 'all', line: 1, ...object('identity', 'there'), data: { nin, displayName: 7 } }
    }
    for (const nin of ['7', 7]) {
      const { items, counts } = await planImport(entries(nin), present, true)
      assert.deepEqual([items, counts.kept], [[], 1])
    }
  })

  it('keeps nobody for an invalid line that repeats a valid one, or is of somebody who is there', async () => {
    const stored = { digest: '', keys: ['email post@x'] }
    const present = new Map(
      [object('identity', 'old'), object('identity', 'there')].map((each) => [nameOf(each), { ...each, ...stored }]),
    )
    async function* entries(): AsyncGenerator<FileEntry> {
      yield { file: 'all', line: 1, ...object('identity', 'new'), data: { email: 'post@x' } }
      yield { file: 'all', line: 2, ...object('identity', 'new'), data: { email: 'post@x' } }
      yield { file: 'all', line: 3, ...object('identity', 'there'), data: { email: 'post@x', displayName: 7 } }
    }
    const { items, counts, invalidLines } = await planImport(entries(), present, true)
    assert.deepEqual(
      items.map(({ item: { op, externalId } }) => [op, externalId]),
      [
        ['upsert', 'new'],
        ['delete', 'old'],
      ],
    )
    assert.deepEqual([counts.kept, invalidLines.length], [0, 2])
  })
})
