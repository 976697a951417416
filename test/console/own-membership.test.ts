import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type Api, ApiRefusal, ApiUnreachable } from '../../functions/console/api.ts'
import { membershipsIn, withRequests } from '../../functions/console/own-membership.ts'
import { readOwnPositions } from '../../functions/console/pages/own-positions.ts'
import type { CollectionDto } from '../../shared/domain/collections/collection.ts'
import type { MembershipDto } from '../../shared/domain/insight/list-memberships.ts'
import type { MembershipRequestDto } from '../../shared/domain/membership-requests/membership-request.ts'

const NOW_MS = Date.parse('2030-03-01T12:00:00Z')

const collection = (id: string) => ({ id, name: id, objectType: 'Identity' }) as CollectionDto
const joined = (collectionId: string, relationshipId: string | null, endsAt: string | null) =>
  ({ id: `${collectionId} ${relationshipId}`, collectionId, relationshipId, endsAt }) as MembershipRequestDto

describe('The own memberships of somebody who does not read their details', () => {
  it('end when their requests do, the soonest first', () => {
    const requests = [joined('later', null, '2030-05-01T00:00:00Z'), joined('soon', null, '2030-03-06T00:00:00Z')]
    const all = membershipsIn(['by condition', 'later', 'soon'].map(collection), requests)
    assert.deepEqual(
      all.map(({ collectionName, endsAt, request }) => [collectionName, endsAt, request?.id]),
      [
        ['soon', '2030-03-06T00:00:00Z', 'soon null'],
        ['later', '2030-05-01T00:00:00Z', 'later null'],
        ['by condition', null, undefined],
      ],
    )
  })

  it('are one for each position', () => {
    const requests = [joined('both', 'first', null), joined('both', 'second', '2030-03-06T00:00:00Z')]
    const all = membershipsIn([collection('both')], requests)
    assert.deepEqual(
      all.map(({ relationshipId, endsAt }) => [relationshipId, endsAt]),
      [
        ['second', '2030-03-06T00:00:00Z'],
        ['first', null],
      ],
    )
  })
})

describe('The own memberships of somebody who reads their details', () => {
  const membership = (objectType: MembershipDto['objectType'], relationshipId: string | null, endsAt: string) =>
    ({ collectionId: 'both', objectType, relationshipId, endsAt }) as MembershipDto

  it('have the request for the same position, and the one without a position has the request without one', () => {
    const end = '2030-05-01T00:00:00Z'
    const memberships = [null, 'first', 'second'].map((id) => membership('Relationship', id, end))
    const requests = ['second', 'first', null].map((id) => joined('both', id, end))
    assert.deepEqual(
      withRequests(memberships, requests).map(({ request }) => request?.id),
      ['both null', 'both first', 'both second'],
    )
  })

  it('have the only request in a collection of people, also while its position is read at two times', () => {
    const end = '2030-05-01T00:00:00Z'
    const requestOf = (before: string | null, after: string | null) =>
      withRequests([membership('Identity', before, end)], [joined('both', after, end)])[0]?.request?.id
    assert.equal(requestOf('first', null), 'both null')
    assert.equal(requestOf(null, 'first'), 'both first')
  })
})

const position = (id: string, title: string | undefined, orgUnit: string, endDate?: string) => {
  return { id, externalId: `hr-${id}`, title, orgUnit: { objectId: orgUnit }, endDate }
}

const apiWith = (positions: () => Promise<object[]>) => {
  const units = ['north', 'south'].map((id) => ({ id, externalId: id, displayName: `School ${id}` }))
  return { all: positions, send: async () => ({ data: units }) } as unknown as Api
}

describe('The own positions to choose from', () => {
  const read = (positions: () => Promise<object[]>) => readOwnPositions('person', NOW_MS, apiWith(positions))

  it('are told apart by their units, without those that have ended', async () => {
    const positions = [
      position('1', 'Teacher', 'north'),
      position('2', 'Teacher', 'south', '2030-03-01'),
      position('3', 'Teacher', 'south', '2030-02-28'),
      position('4', undefined, 'unknown'),
    ]
    assert.deepEqual(await read(async () => positions), [
      { id: '1', name: 'Teacher, School north' },
      { id: '2', name: 'Teacher, School south' },
      { id: '4', name: 'hr-4' },
    ])
  })

  it('are none for those who do not read core objects', async () => {
    const refused = new ApiRefusal(403, [{ code: 'RoleRequired', message: '' }])
    assert.deepEqual(await read(() => Promise.reject(refused)), [])
  })

  it('are not known while the service is not reachable', () =>
    assert.rejects(
      read(() => Promise.reject(new ApiUnreachable('The service is not reachable'))),
      ApiUnreachable,
    ))
})
