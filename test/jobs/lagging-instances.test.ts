import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { openDatabase } from '../../shared/cosmos/database.ts'
import { DatabaseSession, type SessionTokens } from '../../shared/cosmos/database-session.ts'
import type { MessageQueue } from '../../shared/kernel/messages.ts'
import { STOPPED } from '../contract/instances.ts'
import { type AccountWorld, identity, openAccountWorld } from './account-world.ts'
import { users } from './link-directory.ts'

const RUNS_COUNT = Number(process.env.LAGGING_RUNS ?? 20)
const INSTANCE_COUNT = 3
const PERSON_COUNT = 4

/** A change of an attribute of a person through one instance, or the delivery of a message to one instance. */
type Step =
  | { readonly kind: 'write'; readonly instance: number; readonly person: number; readonly isThere: boolean }
  | { readonly kind: 'deliver'; readonly instance: number; readonly isDoubled: boolean }

const instance = fc.nat({ max: INSTANCE_COUNT - 1 })
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('write' as const),
    instance,
    person: fc.nat({ max: PERSON_COUNT - 1 }),
    isThere: fc.boolean(),
  }),
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('deliver' as const), instance, isDoubled: fc.boolean() }) },
)

/** The session tokens of each message's sender, by message id. */
type Sent = Map<string, SessionTokens>

function newInstance(world: AccountWorld, sent: Sent) {
  const session = new DatabaseSession()
  const messageQueue: MessageQueue = {
    async enqueue(message, options) {
      sent.set(options.id, session.tokens())
      await world.deps.messageQueue.enqueue(message, options)
    },
  }
  const container = openDatabase(world.cosmos, session)
  return { session, process: world.coldProcess(undefined, { container, messageQueue }) }
}

type Instance = ReturnType<typeof newInstance>

/** Delivers the earliest message to an instance. Returns false when there is none. */
async function deliver(world: AccountWorld, sent: Sent, { session, process }: Instance, isDoubled = false) {
  const [next] = world.sentMessages.toSorted((one, other) => one.dueMs - other.dueMs)
  if (next === undefined) return false
  session.advance(sent.get(next.id) ?? {})
  if (next.message.queue === 'evaluations') {
    world.sentMessages.splice(world.sentMessages.indexOf(next), 1)
    await process.evaluate()
  } else await world.deliverNext(process.sync)
  if (isDoubled) world.sentMessages.push(next)
  return true
}

describe('Instances with lagging replicas', () => {
  let world: AccountWorld
  before(async () => {
    world = await openAccountWorld()
  })
  after(() => world.close())

  it('write every change of the members to the group without a sweep, in any distribution of the messages', async () => {
    let run = 0
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        run += 1
        const accounts = users(run * PERSON_COUNT, PERSON_COUNT)
        const place = `Place ${run}`
        const source = await world.newSource()
        const person = (index: number, isThere: boolean) =>
          identity(`${index} of ${place}`, {
            displayName: isThere ? place : 'Elsewhere',
            directoryObjectId: accounts[index] as string,
          })
        await world.write(source, ...accounts.map((_, index) => person(index, index % 2 === 0)))
        const collectionId = await world.criteria('Identity', 'identityDisplayName', place)
        const groupId = await world.linkedGroup(collectionId)
        await world.followed()
        world.sentMessages.length = 0
        const there = new Set(accounts.filter((_, index) => index % 2 === 0))
        assert.deepEqual(await world.membersOf(groupId), there)

        const sent: Sent = new Map()
        const instances = Array.from({ length: INSTANCE_COUNT }, () => newInstance(world, sent))
        for (const { process } of instances) await process.evaluate()
        world.cosmos.setReplicaLag(STOPPED)
        for (const one of steps) {
          const chosen = instances[one.instance] as Instance
          if (one.kind === 'deliver') {
            await deliver(world, sent, chosen, one.isDoubled)
            continue
          }
          await world.writeThrough(chosen.process, source, person(one.person, one.isThere))
          const account = accounts[one.person] as string
          if (one.isThere) there.add(account)
          else there.delete(account)
        }
        for (let turn = 0; await deliver(world, sent, instances[turn % INSTANCE_COUNT] as Instance); turn += 1) {
          assert.ok(turn < 500, 'The messages never end')
        }
        world.cosmos.setReplicaLag(undefined)
        assert.deepEqual(await world.membersOf(groupId), there)
      }),
      { numRuns: RUNS_COUNT, seed: 20_261_122, endOnFailure: true },
    )
  })
})
