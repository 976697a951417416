import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { nameOf, type SpaceItem } from '../../infra/import/connector-space.ts'
import { digestOfData } from '../../infra/import/plan-import.ts'
import { runImport } from '../../infra/import/run-import.ts'
import { type Ask, askOnTerminal } from '../../infra/import/terminal.ts'
import { newDataFolder } from '../support/journeys/started-environment.ts'

/** Objects of the connector. */
const PRESENT_COUNT = 20
const present = Array.from({ length: PRESENT_COUNT }, (_, index) => `p${index}`)

const UNITS = ['school', 'office', 'library']

/**
 * An import of files without the last people, and the items that it writes.
 * @param units The org units of the file: none for a file without lines.
 * @param presentUnits Those of the connector.
 */
async function importLacking(
  missingCount: number,
  ask: Ask | undefined,
  isConfirmed = false,
  units: readonly string[] = UNITS,
  presentUnits: readonly string[] = UNITS,
) {
  const path = newDataFolder()
  const people = present.slice(0, PRESENT_COUNT - missingCount)
  writeFileSync(join(path, 'identities.csv'), ['externalId', ...people].join('\n'))
  writeFileSync(join(path, 'orgunits.csv'), ['externalId', ...units].join('\n'))
  const written: SpaceItem[] = []
  const stored = { digest: digestOfData({}), keys: [] }
  const objects = [
    ...present.map((externalId) => ({ objectType: 'identity' as const, externalId, ...stored })),
    ...presentUnits.map((externalId) => ({ objectType: 'orgUnit' as const, externalId, ...stored })),
  ]
  const space = {
    readTypes: async () => new Map(),
    readAll: async () => new Map(objects.map((object) => [nameOf(object), object])),
    write: async (items: readonly SpaceItem[]) => {
      written.push(...items)
      return items.map((_, index) => ({ index, status: 200 }))
    },
  }
  const connection = { apiUrl: '', token: 'x', credentials: undefined }
  const encoding = 'utf-8' as const
  const options = { path, connectorId: 'c', encoding, isDryRun: false, deletesMissing: true, isConfirmed, connection }
  const progress = { show() {}, end() {} }
  const run = () => runImport(options, { space, progress, say() {}, ask })
  return { run, written }
}

/** Answers in order and records the questions. */
function answering(...answers: boolean[]): { ask: Ask; questions: string[] } {
  const questions: string[] = []
  const ask = async (question: string) => {
    questions.push(question)
    return answers.shift() ?? false
  }
  return { ask, questions }
}

describe('an import with deletions', () => {
  it('asks before it deletes more than a tenth, and deletes after yes', async () => {
    const { ask, questions } = answering(true)
    const { run, written } = await importLacking(3, ask)
    assert.equal(await run(), 0)
    assert.deepEqual(questions, ['Delete 3 of 20 objects of type identity?'])
    assert.deepEqual(written.map(({ op, externalId }) => `${op} ${externalId}`).sort(), [
      'delete p17',
      'delete p18',
      'delete p19',
    ])
  })

  it('makes no changes after no', async () => {
    const { run, written } = await importLacking(3, answering(false).ask)
    await assert.rejects(run(), { message: 'Cancelled. No changes were made', exitCode: 1 })
    assert.deepEqual(written, [])
  })

  it('fails without an interactive terminal', async () => {
    const { run, written } = await importLacking(3, undefined)
    await assert.rejects(run(), {
      message: /^3 of 20 objects of type identity would be deleted\. Confirm with --yes/,
      exitCode: 1,
    })
    assert.deepEqual(written, [])
  })

  it('asks before it deletes all objects of a type, however few they are', async () => {
    const { ask, questions } = answering(false)
    const { run, written } = await importLacking(2, ask, false, ['other'])
    await assert.rejects(run(), { message: 'Cancelled. No changes were made' })
    assert.deepEqual(questions, ['Delete 2 of 20 objects of type identity, 3 of 3 objects of type orgUnit?'])
    assert.deepEqual(written, [])
  })

  it('asks before it deletes the only object of a type', async () => {
    const { ask, questions } = answering(false)
    const { run } = await importLacking(0, ask, false, ['other'], ['school'])
    await assert.rejects(run(), { message: 'Cancelled. No changes were made' })
    assert.deepEqual(questions, ['Delete 1 of 1 objects of type orgUnit?'])
  })

  it('deletes no objects of a type whose file has only a header, also with --yes', async () => {
    const { run, written } = await importLacking(20, undefined, true, [])
    assert.equal(await run(), 0)
    assert.deepEqual(written, [])
  })

  it('does not ask before it deletes one of a few, and asks before it deletes two', async () => {
    const { ask, questions } = answering()
    const { run, written } = await importLacking(0, ask, false, ['school', 'office'])
    assert.equal(await run(), 0)
    assert.deepEqual([questions, written.map(({ op, externalId }) => `${op} ${externalId}`)], [[], ['delete library']])
    await assert.rejects((await importLacking(0, ask, false, ['school'])).run(), { message: /^Cancelled/ })
    assert.deepEqual(questions, ['Delete 2 of 3 objects of type orgUnit?'])
  })

  for (const [claim, missingCount, isConfirmed] of [
    ['deletes a tenth', 2, false],
    ['deletes nothing', 0, false],
    ['deletes all but one with --yes', 19, true],
  ] as const) {
    it(`does not ask when it ${claim}`, async () => {
      const { ask, questions } = answering()
      const { run, written } = await importLacking(missingCount, ask, isConfirmed)
      assert.equal(await run(), 0)
      const deletedCount = written.filter(({ op }) => op === 'delete').length
      assert.deepEqual([questions, deletedCount], [[], missingCount])
    })
  }
})

describe('a question on the terminal', () => {
  const terminal = (): PassThrough & { isTTY: boolean } => Object.assign(new PassThrough(), { isTTY: true })

  for (const [typed, expected] of [
    ['y\n', true],
    ['Yes \n', true],
    ['\n', false],
    ['n\n', false],
    ['yellow\n', false],
    ['', false],
    ['\u0003', false],
  ] as const) {
    it(`is answered ${expected ? 'yes' : 'no'} by ${JSON.stringify(typed)}`, async () => {
      const [input, output] = [terminal(), terminal()]
      const answer = askOnTerminal(input, output)?.('Delete 3 of 20 objects?')
      input.end(typed)
      assert.equal(await answer, expected)
      assert.match(String(output.read()), /Delete 3 of 20 objects\? \[y\/N\] /)
    })
  }

  it('is asked only if input and output are a terminal', () => {
    assert.equal(askOnTerminal(terminal(), new PassThrough()), undefined)
    assert.equal(askOnTerminal(new PassThrough(), terminal()), undefined)
  })
})
