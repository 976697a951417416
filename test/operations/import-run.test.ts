import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { connect } from '../../infra/import/api-connection.ts'
import { type ConnectorSpace, nameOf, type SpaceItem } from '../../infra/import/connector-space.ts'
import { runImport } from '../../infra/import/run-import.ts'

const folder = mkdtempSync(join(tmpdir(), 'import-'))
after(() => rmSync(folder, { recursive: true }))

type Status = (item: SpaceItem, index: number) => number

/** Imports identities while these exist. The API answers items with a status. */
async function importPeople(
  lines: readonly string[],
  existing: readonly string[],
  statusOf: Status,
  keysOf: (externalId: string) => readonly string[] = () => [],
) {
  const path = join(folder, 'identities.csv')
  writeFileSync(path, `${lines.join('\n')}\n`)
  const former = existing.map((externalId) => ({ objectType: 'identity', externalId }) as const)
  const [said, batches]: [string[], string[]] = [[], []]
  const space: ConnectorSpace = {
    readTypes: async () => new Map(),
    readAll: async () =>
      new Map(former.map((each) => [nameOf(each), { ...each, digest: '', keys: keysOf(each.externalId) }])),
    write: async (items) => {
      batches.push(items.map(({ op, externalId }) => `${op} ${externalId}`).join(', '))
      return items.map((item, index) => ({
        index,
        status: statusOf(item, index),
        errors: [{ message: 'It is in use' }],
      }))
    },
  }
  return { code: await runWith(path, space, said), said, batches }
}

/** @param said Receives what the import prints. @returns The exit code. */
function runWith(path: string, space: ConnectorSpace, said: string[], isDryRun = false): Promise<number> {
  const options = { path, connectorId: 'hr', encoding: 'utf-8', isDryRun, deletesMissing: true } as const
  const connection = { apiUrl: '', token: undefined, credentials: undefined }
  const around = { space, progress: { show: () => undefined, end: () => undefined }, ask: undefined }
  const say = (line: string) => void said.push(line)
  return runImport({ ...options, isConfirmed: true, connection }, { ...around, say })
}

/** Imports one identity, and deletes two others, whose deletions the API answers with these statuses. */
const deleteTwo = (statuses: readonly number[]) =>
  importPeople(['externalId,displayName', 'stays,New'], ['stays', 'first', 'second'], ({ op }, index) =>
    op === 'delete' ? (statuses[index] ?? 200) : 200,
  )

describe('An import', () => {
  it('reports deletions that the API refuses, and ends with exit code 1', async () => {
    const { code, said } = await deleteTwo([200, 409])
    assert.equal(code, 1)
    assert.deepEqual(said.slice(-2), [
      'Not deleted: identity first: It is in use',
      'Done: 2 written, 0 unchanged, 1 failed',
    ])
  })

  it('takes what was deleted in the meantime for deleted', async () => {
    const { code, said } = await deleteTwo([404, 200])
    assert.deepEqual([code, said.at(-1)], [0, 'Done: 3 written, 0 unchanged, 0 failed'])
  })

  it('sends the renames that free a name before the objects that get it', async () => {
    const lines = ['externalId,previousExternalId', 'b,a', 'a,', 'c,b']
    const { code, batches } = await importPeople(lines, ['a', 'b'], () => 200)
    assert.equal(code, 0)
    assert.deepEqual(batches, ['upsert c', 'upsert b', 'upsert a'])
  })

  it('sends the new and the former record of a person in one batch, however many there are', async () => {
    const people = Array.from({ length: 600 }, (_, index) => index)
    const lines = ['externalId,nin', 'stays,other', ...people.map((index) => `new${index},${index}`)]
    const existing = people.map((index) => `old${index}`)
    const { code, batches } = await importPeople(
      lines,
      ['gone', ...existing],
      () => 200,
      (name) => [`nin ${name.replace('old', '')}`],
    )
    assert.equal(code, 0)
    const [first, last] = [batches[0], batches.at(-1)]
    assert.deepEqual([first, last], ['upsert stays', 'delete gone'])
    assert.equal(batches.length, 4)
    for (const index of people) {
      const pair = batches.filter((batch) => `${batch},`.includes(`upsert new${index}, delete old${index},`))
      assert.equal(pair.length, 1)
    }
  })

  it('names people whose former record is deleted, though the API refused the new one', async () => {
    const lines = ['externalId,nin', 'new1,1', 'new2,2', 'new3,3']
    const { code, said } = await importPeople(
      lines,
      ['old1', 'old2', 'old3'],
      ({ externalId }) => (['new1', 'new3', 'old3'].includes(externalId) ? 409 : 200),
      (name) => [`nin ${name.replace('old', '')}`],
    )
    assert.equal(code, 1)
    assert.deepEqual(said.slice(-3), [
      'Not deleted: identity old3: It is in use',
      'Deleted: identity old1, though the API refused what replaces it. Correct that line and import again',
      'Done: 3 written, 0 unchanged, 3 failed',
    ])
  })

  it('sends at most 1000 items in a batch, also when thousands have one key of a former record', async () => {
    const people = Array.from({ length: 2_500 }, (_, index) => `new${index},info@example.org`)
    const keysOf = () => ['email info@example.org']
    const { code, batches } = await importPeople(['externalId,email', ...people], ['old'], () => 200, keysOf)
    assert.equal(code, 0)
    assert.deepEqual(batches.map((batch) => batch.split(', ').length).toSorted(), [1000, 1000, 501])
  })

  it('sends at most 3.5 MB in a batch: the API takes 4 MB', async () => {
    const path = join(folder, 'identities.csv')
    const people = Array.from({ length: 950 }, (_, index) => `p${index},${'ø'.repeat(2_000)}`)
    writeFileSync(path, ['externalId,displayName', ...people].join('\n'))
    const sizesBytes: number[] = []
    const space: ConnectorSpace = {
      readTypes: async () => new Map(),
      readAll: async () => new Map(),
      write: async (items) => {
        sizesBytes.push(Buffer.byteLength(JSON.stringify(items)))
        return items.map((_item, index) => ({ index, status: 201 }))
      },
    }
    assert.equal(await runWith(path, space, []), 0)
    assert.deepEqual([sizesBytes.length, sizesBytes.every((bytes) => bytes <= 3_500_001)], [2, true])
  })

  it('ends a dry run with exit code 1 when a line is invalid, and sends nothing', async () => {
    const path = join(folder, 'identities.csv')
    writeFileSync(path, 'externalId,displayName\nada,Ada\n,Nobody\n')
    const space: ConnectorSpace = {
      readTypes: async () => new Map(),
      readAll: async () => new Map(),
      write: () => Promise.reject(new Error('It was sent')),
    }
    const said: string[] = []
    assert.equal(await runWith(path, space, said, true), 1)
    assert.equal(said.at(-1), `${path}:3: externalId is required`)
  })

  it('sends no object whose name the API has not freed, and deletes nobody of that name', async () => {
    const lines = ['externalId,previousExternalId', 'c,b', 'b,a', 'a,']
    const { code, said, batches } = await importPeople(lines, ['a', 'b'], () => 409)
    assert.deepEqual([code, batches], [1, ['upsert c']])
    const path = join(folder, 'identities.csv')
    assert.deepEqual(said.slice(-4), [
      `${path}:2: It is in use`,
      `${path}:3: identity b is still the name of an object that was not renamed`,
      `${path}:4: identity a is still the name of an object that was not renamed`,
      'Done: 0 written, 0 unchanged, 3 failed',
    ])
  })

  it('warns of references to objects that it does not write either', async () => {
    const units = join(folder, 'units')
    mkdirSync(units)
    writeFileSync(join(units, 'orgunits.csv'), 'externalId,manager,deputies\nschool,ada,bo|gone\n')
    writeFileSync(join(units, 'identities.csv'), 'externalId\nada\nbo\n')
    const targetsOf = ({ objectType }: SpaceItem) =>
      objectType === 'orgUnit' ? ['/items/0/data/manager', '/items/0/data/deputies/0', '/items/0/data/deputies/1'] : []
    const said: string[] = []
    const space: ConnectorSpace = {
      readTypes: async () => new Map(),
      readAll: async () => new Map(),
      write: async (items) =>
        items.map((item, index) => ({ index, status: 201, warnings: targetsOf(item).map((target) => ({ target })) })),
    }
    assert.equal(await runWith(units, space, said), 0)
    assert.deepEqual(said.slice(-3, -1), [
      '1 references to objects that do not exist',
      `${join(units, 'orgunits.csv')}:2: deputies/1 leads to no object`,
    ])
  })

  it('waits the seconds that the API names before it repeats a request', async () => {
    const atMs: number[] = []
    const server = createServer((_request, response) => {
      atMs.push(performance.now())
      if (atMs.length === 1) response.writeHead(429, { 'retry-after': '2' }).end()
      else response.end(JSON.stringify({ isSuccess: true, data: 'done' }))
    })
    await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
    try {
      const apiUrl = `http://localhost:${(server.address() as AddressInfo).port}`
      const call = await connect({ apiUrl, token: 'x', credentials: undefined })
      assert.equal((await call('GET', '/anything')).data, 'done')
    } finally {
      server.closeAllConnections()
      server.close()
    }
    const [first = 0, second = 0] = atMs
    assert.ok(second - first >= 1_990, `${second - first} ms`)
  })
})
