import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { updateLink } from '../../shared/domain/group-links/manage-links.ts'
import { explainMembership } from '../../shared/domain/insight/explain-membership.ts'
import { sweepTenant } from '../../shared/domain/sync/sweep.ts'
import { Refusal } from '../../shared/kernel/refusals.ts'
import {
  type AccountFixture,
  CALLER,
  gone,
  identity,
  openAccountFixture,
  position,
} from '../support/jobs/account-fixture.ts'
import { TENANT, user } from '../support/jobs/link-directory.ts'

const PEOPLE = ['ada', 'bob', 'eve'] as const
type Name = (typeof PEOPLE)[number]

/** What happens to people, their groups and the link. */
type Step =
  | { readonly kind: 'join' | 'leave' | 'lose-account' | 'unknown-account' | 'delete'; readonly name: Name }
  | { readonly kind: 'add-by-hand' | 'remove-by-hand' | 'accept'; readonly name: Name }
  | { readonly kind: 'evaluate' | 'deliver' | 'sweep' | 'disable' | 'enable' }

const NAMED = [
  'join',
  'leave',
  'lose-account',
  'unknown-account',
  'delete',
  'add-by-hand',
  'remove-by-hand',
  'accept',
] as const
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom(...NAMED), name: fc.constantFrom(...PEOPLE) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('evaluate', 'deliver', 'sweep') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('disable', 'enable') }) },
) as fc.Arbitrary<Step>

function ignoreDeletedPerson(error: unknown): void {
  if (!(error instanceof Refusal) || error.code !== 'IdentityUnknown') throw error
}

const IN_GROUP = new Set(['Written', 'InGroupRemovalPaused', 'InGroupRemovalPending', 'InGroupByOthers'])
const OUT_OF_GROUP = new Set(['NotInGroup', 'NoAccount'])

let fixture: AccountFixture
before(async () => {
  fixture = await openAccountFixture({ isDirect: true })
})
after(() => fixture.close())

let nextUser = 0

/** Three people of one source, and a collection of those with one e-mail address, linked to a group. */
async function openHistory(objectType: 'Identity' | 'Relationship') {
  const source = await fixture.newSource()
  const email = `${randomUUID()}@example.org`
  nextUser += PEOPLE.length
  const accounts = new Map(PEOPLE.map((name, index) => [name, user(nextUser - index)]))
  const write = async (name: Name, isMember: boolean, account = accounts.get(name)) => {
    const person = identity(name, {
      displayName: name,
      ...(isMember && { email }),
      ...(account && { directoryObjectId: account }),
    })
    await fixture.write(source, person, position(`job of ${name}`, name))
  }
  for (const name of PEOPLE) await write(name, name !== 'eve')
  const collectionId = await fixture.criteria(objectType, 'identityEmail', email)
  const groupId = await fixture.linkedGroup(collectionId)
  const process = fixture.coldProcess()
  const [found] = await process.sync.links.ofCollection(TENANT, collectionId)
  const linkId = found?.value.id ?? ''
  const target = { tenantId: TENANT, linkId, ifMatch: undefined }
  const idOf = (name: Name) => fixture.coreIdOf(source, 'identity', name)
  const byHand = async (name: Name, method: 'POST' | 'DELETE') => {
    const id = accounts.get(name)
    const path = `/groups/${groupId}/members/${method === 'POST' ? '' : `${id}/`}$ref`
    const body =
      method === 'POST' ? { '@odata.id': `https://graph.microsoft.com/v1.0/directoryObjects/${id}` } : undefined
    await fixture.asTester({ method, path, ...(body && { body }) })
  }
  const run = async (taken: Step): Promise<unknown> => {
    switch (taken.kind) {
      case 'join':
        return write(taken.name, true)
      case 'leave':
        return write(taken.name, false)
      case 'lose-account':
        return write(taken.name, true, '')
      case 'unknown-account':
        return write(taken.name, true, randomUUID())
      case 'delete':
        return fixture.write(source, gone('relationship', `job of ${taken.name}`), gone('identity', taken.name))
      case 'add-by-hand':
        return byHand(taken.name, 'POST')
      case 'remove-by-hand':
        return byHand(taken.name, 'DELETE')
      case 'accept':
        return updateLink(target, { acceptedWithoutAccount: [await idOf(taken.name)] }, process.sync).catch(
          ignoreDeletedPerson,
        )
      case 'evaluate':
        return process.evaluate()
      case 'deliver':
        return fixture.drain(process.sync)
      case 'sweep':
        return sweepTenant(TENANT, process.sync)
      case 'disable':
        return updateLink(target, { state: 'Disabled' }, process.sync)
      case 'enable':
        return updateLink(target, { state: 'Enabled' }, process.sync)
    }
  }
  const caller = { ...CALLER, roles: new Set(['collections-criteria.criteria.readwrite.all'] as const) }
  const asker = { caller, identityId: undefined, seesAll: true }
  const standings = async () => {
    const members = await fixture.membersOf(groupId)
    const told: { name: Name; state: string; isIn: boolean }[] = []
    for (const name of PEOPLE) {
      const query = { collectionId, objectId: await idOf(name), after: undefined, size: 1 }
      const explained = await explainMembership(query, asker, process.requests).catch(() => undefined)
      const [link] = explained?.data.links ?? []
      if (link === undefined) continue
      const isIn = link.directoryObjectId !== null && members.has(link.directoryObjectId)
      told.push({ name, state: link.state, isIn })
    }
    return told
  }
  return { run, standings, collectionId }
}

describe('what explain says of a person and a group', () => {
  for (const objectType of ['Identity', 'Relationship'] as const) {
    it(`agrees with the directory after every step of any history of a collection of ${objectType} objects`, async () => {
      const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 12 }), async (steps) => {
        const history = await openHistory(objectType)
        for (const taken of steps) {
          await history.run(taken)
          for (const { name, state, isIn } of await history.standings()) {
            const seen = `${name} is ${state} and ${isIn ? 'in' : 'not in'} the group after ${JSON.stringify(taken)}`
            assert.ok(isIn ? !OUT_OF_GROUP.has(state) : !IN_GROUP.has(state), seen)
          }
        }
        await history.run({ kind: 'enable' })
        await fixture.removeLinked(history.collectionId)
        await fixture.drain()
      })
      await fc.assert(property, { numRuns: 20 })
    })
  }
})
