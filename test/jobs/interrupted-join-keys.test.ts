import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { ObjectWrite } from '../../shared/domain/connectors/object-input.ts'
import { MergeServers } from '../support/jobs/merge-servers.ts'
import { MergingTenant } from '../support/jobs/merging-tenant.ts'
import type { Fault, PeopleSettings } from '../support/jobs/people-steps.ts'

const [HR, DIRECTORY] = [0, 1]
const ACCOUNT = '0a0a0a0a-0000-4000-8000-000000000001'
const OTHER_ACCOUNT = '0a0a0a0a-0000-4000-8000-000000000002'
const BY_NUMBER: PeopleSettings = { joinOn: ['nin', 'directoryObjectId'], bindsAccounts: true, authority: 'Full' }
const BY_EMAIL: PeopleSettings = { ...BY_NUMBER, joinOn: [...BY_NUMBER.joinOn, 'email'] }
/** More than the calls that the change makes, and the audit of so few people. */
const MAX_CALLS_COUNT = { change: 24, audit: 81 }
/** Odd, so that every second one of the processes ends before its call takes effect, the others after that. */
const CALLS_APART_COUNT = 3

const servers = await MergeServers.start()
servers.account.cosmos.unref()

const person = (externalId: string, data = {}): ObjectWrite => {
  return { operation: 'upsert', objectType: 'identity', externalId, data }
}

/**
 * One person of two sources that share an e-mail address, beside another one. Both are in the group; the first one also
 * waits for an approver.
 * @param accountOf The source that knows the account.
 */
async function newTenant(accountOf: number, settings: PeopleSettings): Promise<MergingTenant> {
  const tenant = await MergingTenant.open(servers, [randomUUID(), randomUUID(), randomUUID()])
  const ada = (source: number) =>
    person('ada', { email: 'ada@example.com', ...(source === accountOf && { directoryObjectId: ACCOUNT }) })
  const bo = person('bo', { email: 'bo@example.com', directoryObjectId: OTHER_ACCOUNT })
  await tenant.begin({ objects: [[ada(HR), bo], [ada(DIRECTORY)], []], members: [] })
  if (settings !== BY_NUMBER) await change(tenant, settings, undefined, undefined)
  for (const [collection, name] of [
    [0, 'ada'],
    [0, 'bo'],
    [2, 'ada'],
  ] as const) {
    const connector = name === 'ada' ? accountOf : HR
    await tenant.changeMembers({ kind: 'join', collection, connector, name })
  }
  await tenant.followed()
  await tenant.link()
  return tenant
}

async function change(
  tenant: MergingTenant,
  settings: PeopleSettings,
  duringChange: Fault | undefined,
  duringAudit: Fault | undefined,
): Promise<void> {
  assert.ok(await tenant.change(HR, settings, { duringChange, duringAudit }))
}

/** Collections and the identities that carry each member, in order. */
async function membershipsOf(tenant: MergingTenant): Promise<readonly string[]> {
  const { members } = await tenant.state()
  return members.map(({ collection, person }) => `${collection} ${person.length}`).sort()
}

describe('A change of joinOn in a process that is killed', () => {
  for (const [claim, from, to, accountOf, before, after] of [
    ['joins', BY_NUMBER, BY_EMAIL, DIRECTORY, 1, 2],
    ['splits', BY_EMAIL, BY_NUMBER, HR, 2, 1],
  ] as const) {
    for (const place of ['change', 'audit'] as const) {
      it(`is resumed and ${claim} people, at whichever call of the ${place}, and nobody loses a membership`, async () => {
        for (let atCall = 0; atCall < MAX_CALLS_COUNT[place]; atCall += CALLS_APART_COUNT) {
          const tenant = await newTenant(accountOf, from)
          assert.deepEqual([...tenant.group.group].sort(), [ACCOUNT, OTHER_ACCOUNT])
          assert.deepEqual(await membershipsOf(tenant), ['0 1', `0 ${before}`, `2 ${before}`])
          const killed: Fault = { atCall, kind: 'killed' }
          await change(tenant, to, place === 'change' ? killed : undefined, place === 'audit' ? killed : undefined)
          assert.deepEqual(await membershipsOf(tenant), ['0 1', `0 ${after}`, `2 ${after}`], `call ${atCall}`)
          assert.deepEqual(tenant.group.losses, [], `call ${atCall}`)
          assert.deepEqual([...tenant.group.group].sort(), [ACCOUNT, OTHER_ACCOUNT], `call ${atCall}`)
        }
      })
    }
  }
})
