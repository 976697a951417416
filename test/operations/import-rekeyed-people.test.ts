import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { SpaceItem, SpaceObject } from '../../infra/import/connector-space.ts'
import { withPeople } from '../../infra/import/rekeyed-people.ts'

it('A position is not sent with a person who gets another external id before its name is free', () => {
  const former: SpaceObject = { objectType: 'identity', externalId: 'old', digest: '', keys: ['nin 7'] }
  const position = (externalId: string): SpaceItem => {
    return { op: 'upsert', objectType: 'relationship', externalId, data: { identity: { externalId: 'new' } } }
  }
  const items: { item: SpaceItem; round: number }[] = [
    { item: { op: 'upsert', objectType: 'identity', externalId: 'new', data: { nin: '7' } }, round: 0 },
    { item: { ...position('later job'), previousExternalId: 'job' }, round: 0 },
    { item: position('job'), round: 1 },
    { item: { op: 'delete', objectType: 'identity', externalId: 'old' }, round: 0 },
  ]
  assert.deepEqual(
    withPeople(items, [former]).map(({ item, person }) => [item.externalId, person]),
    [
      ['new', 'old'],
      ['later job', 'old'],
      ['job', undefined],
      ['old', 'old'],
    ],
  )
})
