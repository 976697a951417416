import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { coreDataServiceOfTests, newTenantWithHr, to, upsert } from '../support/api/core-data-service.ts'
import { newFolder, runImportOf } from '../support/api/import-of-files.ts'

const service = await coreDataServiceOfTests()

describe('An import that renames people', () => {
  it('keeps a person who gets the former name of another, with the references that mean them', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const folder = newFolder()
    await hr.batch(
      upsert('identity', 'a', { displayName: 'Ada' }),
      upsert('identity', 'b', { displayName: 'Bo' }),
      upsert('orgUnit', 'school', { manager: to('a') }),
      upsert('orgUnit', 'office', { manager: to('b') }),
      upsert('relationship', 'job', { identity: to('b') }),
    )
    const idOf = async (displayName: string): Promise<string> => {
      const people = await tenant.all('identities')
      return people.find((person: { displayName: string }) => person.displayName === displayName)?.id
    }
    const before = [await idOf('Ada'), await idOf('Bo')]
    writeFileSync(join(folder, 'orgunits.csv'), 'externalId,manager\nschool,b\noffice,b\n')
    writeFileSync(
      join(folder, 'identities.csv'),
      'externalId,previousExternalId,displayName\nb,a,Ada\nc,b,Bo\nd,,Dan\n',
    )
    writeFileSync(join(folder, 'relationships.csv'), 'externalId,identity\njob,c\n')
    const said: string[] = []
    const run = () => runImportOf(hr, folder, (line) => void said.push(line))
    assert.equal(await run(), 0)
    assert.equal(said.at(-1), 'Done: 6 written, 0 unchanged, 0 failed')
    assert.deepEqual([await idOf('Ada'), await idOf('Bo')], before)
    const [ada, bo] = before.map((objectId) => ({ objectId }))
    assert.deepEqual((await tenant.byExternalId('orgunits', 'school')).manager, ada)
    assert.deepEqual((await tenant.byExternalId('orgunits', 'office')).manager, ada)
    assert.deepEqual((await tenant.byExternalId('relationships', 'job')).identity, bo)
    assert.equal(await run(), 0)
    assert.equal(said.at(-1), 'Done: 0 written, 6 unchanged, 0 failed')
  })

  it('changes people whose names were handed on, while the files still have their former names', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const folder = newFolder()
    await hr.batch(upsert('identity', 'a', { displayName: 'Ada' }), upsert('identity', 'b', { displayName: 'Bo' }))
    const people = async () => {
      const listed: { id: string; externalId: string; displayName: string }[] = await tenant.all('identities')
      return listed.map(({ id, externalId, displayName }) => [externalId, displayName, id]).sort()
    }
    const [[, , ada] = [], [, , bo] = []] = await people()
    const said: string[] = []
    const run = async (...lines: readonly string[]) => {
      writeFileSync(join(folder, 'identities.csv'), ['externalId,previousExternalId,displayName', ...lines].join('\n'))
      const code = await runImportOf(hr, folder, (line) => void said.push(line))
      return [code, said.at(-1)]
    }
    assert.deepEqual(await run('b,a,Ada', 'c,b,Bo'), [0, 'Done: 2 written, 0 unchanged, 0 failed'])
    assert.deepEqual(await run('b,a,Ada', 'c,b,Bo Two'), [0, 'Done: 1 written, 1 unchanged, 0 failed'])
    assert.deepEqual(await run('b,a,Ada Two', 'c,b,Bo Three'), [0, 'Done: 2 written, 0 unchanged, 0 failed'])
    assert.deepEqual(await run('a,,Al', 'b,a,Ada Two', 'c,b,Bo Three'), [0, 'Done: 1 written, 2 unchanged, 0 failed'])
    assert.deepEqual(await run('a,,Al', 'b,a,Ada', 'c,b,Bo'), [0, 'Done: 2 written, 1 unchanged, 0 failed'])
    const [first, ...others] = await people()
    assert.deepEqual(
      [first?.slice(0, 2), others],
      [
        ['a', 'Al'],
        [
          ['b', 'Ada', ada],
          ['c', 'Bo', bo],
        ],
      ],
    )
    assert.deepEqual(await run('b,a,Ada', 'c,b,Bo Two'), [0, 'Done: 2 written, 1 unchanged, 0 failed'])
  })

  it('keeps a person with their positions while the line of their new external id is invalid', async () => {
    const { tenant, hr } = await newTenantWithHr(service)
    const folder = newFolder()
    await hr.batch(
      upsert('identity', 'old', { displayName: 'Ada', nin: '7' }),
      upsert('identity', 'gone', { displayName: 'Bo', nin: '8' }),
      ...['moved', 'ended'].map((name) => upsert('relationship', name, { identity: to('old'), title: name })),
      upsert('relationship', 'other', { identity: to('gone') }),
    )
    const before = [await tenant.all('identities'), await tenant.all('relationships')]
    const write = (data: object): void => {
      writeFileSync(join(folder, 'identities.jsonl'), JSON.stringify({ externalId: 'new', data }))
      writeFileSync(join(folder, 'relationships.csv'), 'externalId,identity,title\nmoved,new,moved\nnext,new,next\n')
    }
    write({ displayName: 'Ada', nin: 7 })
    const said: string[] = []
    assert.equal(await runImportOf(hr, folder, (line) => void said.push(line)), 1)
    const isKept = ({ externalId }: { externalId: string }) => ['old', 'moved', 'ended'].includes(externalId)
    const [people, positions] = [await tenant.all('identities'), await tenant.all('relationships')]
    assert.deepEqual(
      [people, positions.filter(isKept)],
      before.map((objects) => objects.filter(isKept)),
    )
    assert.deepEqual(positions.map(({ externalId }: { externalId: string }) => externalId).sort(), [
      'ended',
      'moved',
      'next',
    ])
    assert.ok(
      said.includes('2 objects that are not in the files are kept because invalid lines may mean the same people'),
    )
    assert.ok(said.some((line) => line.endsWith('relationships.csv:2: the line of identity new is invalid')))
    write({ displayName: 'Ada', nin: '7' })
    assert.equal(await runImportOf(hr, folder), 0)
    const identity = { objectId: people[0].id }
    assert.deepEqual((await tenant.byExternalId('identities', 'new')).id, identity.objectId)
    const after = await tenant.all('relationships')
    assert.deepEqual(
      after
        .map((position: { externalId: string; identity: object }) => [position.externalId, position.identity])
        .sort(),
      [
        ['moved', identity],
        ['next', identity],
      ],
    )
  })
})
