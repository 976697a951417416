import assert from 'node:assert/strict'
import { after, it } from 'node:test'
import fc from 'fast-check'
import { actOnRequest } from '../../shared/domain/membership-requests/act-on-request.ts'
import { removeMembersDirectly } from '../../shared/domain/membership-requests/direct-members.ts'
import { submitRequest } from '../../shared/domain/membership-requests/submit-request.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import { CALLER, identity, openAccountFixture, position } from '../support/jobs/account-fixture.ts'
import { TENANT, user } from '../support/jobs/link-directory.ts'

const HOUR_MS = 3_600_000
const PEOPLE = ['ada', 'bo']
const POSITIONS = ['first', 'second']

type Act = { readonly kind: 'join' | 'leave' | 'removed'; readonly person: string; readonly position: string }

const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom('join', 'join', 'leave', 'removed'),
  person: fc.constantFrom(...PEOPLE),
  position: fc.constantFrom(...POSITIONS),
})

/** What happens between two syncs. */
const bursts = fc.array(fc.array(act, { minLength: 2, maxLength: 7 }), { minLength: 1, maxLength: 4 })

const LEFT_BY_ONE_OF_TWO: Act[] = [
  { kind: 'join', person: 'ada', position: 'first' },
  { kind: 'join', person: 'ada', position: 'second' },
  { kind: 'leave', person: 'ada', position: 'first' },
]

/** What is no longer there, or is there already, changes nothing. */
const unlessRefused = (error: unknown): void => {
  if (!(error instanceof Refusal)) throw error
}

it('The group of a collection of positions has those who have a membership left, whatever happened between syncs', async () => {
  const fixture = await openAccountFixture({ sharesClock: true, databaseSharesClock: true })
  after(() => fixture.close())
  const source = await fixture.newSource()
  for (const [index, person] of PEOPLE.entries()) {
    const positions = POSITIONS.map((name) => position(`${person} ${name}`, person))
    await fixture.write(source, identity(person, { directoryObjectId: user(index) }), ...positions)
  }
  await fixture.followed()
  const { requests, sync } = fixture.coldProcess()
  const idsOf = (type: 'identity' | 'relationship', names: readonly string[]) =>
    Promise.all(names.map(async (name) => [name, await fixture.coreIdOf(source, type, name)] as const))
  const identities = new Map(await idsOf('identity', PEOPLE))
  const names = PEOPLE.flatMap((person) => POSITIONS.map((name) => `${person} ${name}`))
  const relationships = new Map(await idsOf('relationship', names))
  const actor = { id: CALLER.objectId, identityId: undefined }

  async function perform(collectionId: string, { kind, person, position: name }: Act): Promise<void> {
    const identityId = identities.get(person) ?? ''
    const relationshipId = relationships.get(`${person} ${name}`) ?? ''
    if (kind === 'join') {
      await submitRequest(collectionId, { relationshipId }, { tenantId: TENANT, identityId }, requests)
    } else if (kind === 'removed') {
      await removeMembersDirectly(TENANT, collectionId, { coreIdentityIds: [identityId] }, actor, requests)
    } else {
      const live = await requests.requests.liveIn(TENANT, collectionId, [identityId])
      const id = live.find(({ value }) => value.relationshipId === relationshipId)?.value.id
      if (id === undefined) return
      const request = { tenantId: TENANT, collectionId, requestId: id }
      await actOnRequest(request, 'leave', {}, { identityId, seesAll: false }, {}, requests)
    }
  }

  const collectionId = await fixture.joinable([], 'Relationship')
  const groupId = await fixture.linkedGroup(collectionId)
  // Until the link is no longer compared in full.
  for (let hour = 1; hour <= 6; hour += 1) {
    await fixture.clock.sleep(HOUR_MS)
    await fixture.followed()
    await sweepTenant(TENANT, sync)
    await fixture.drain(sync)
  }
  await fc.assert(
    fc.asyncProperty(bursts, async (all) => {
      const joined = new Set<string>()
      const everybody = PEOPLE.map((person): Act => ({ kind: 'removed', person, position: '' }))
      for (const burst of [everybody, ...all]) {
        for (const each of burst) {
          await perform(collectionId, each).catch(unlessRefused)
          const own = POSITIONS.map((name) => `${each.person} ${name}`)
          const named = each.kind === 'removed' ? own : [`${each.person} ${each.position}`]
          for (const name of named) if (each.kind === 'join') joined.add(name)
          for (const name of named) if (each.kind !== 'join') joined.delete(name)
        }
        await fixture.followed()
        const expected = PEOPLE.flatMap((person, index) =>
          POSITIONS.some((name) => joined.has(`${person} ${name}`)) ? [user(index)] : [],
        )
        assert.deepEqual([...(await fixture.membersOf(groupId))].sort(), expected.sort())
      }
    }),
    { numRuns: 20, examples: [[[LEFT_BY_ONE_OF_TWO]]] },
  )
})
