import assert from 'node:assert/strict'
import type { Service } from '../../../functions/app/service.ts'
import type { Directory } from '../../../shared/domain/group-links/directory.ts'
import type { Message } from '../../../shared/kernel/messages.ts'
import { builtService } from '../api/built-service.ts'
import { directDatabase } from '../contract/direct-database.ts'
import { type LocalAccount, startDirectAccount } from '../contract/local-database.ts'
import { guardedGroup } from './guarded-group.ts'
import { type TestClock, testClock } from './link-directory.ts'
import { Life } from './mortal-process.ts'

const MAX_MESSAGES_COUNT = 200

/** A database with the messages and groups of all its tenants, and a process that meets no faults. */
export class MergeServers {
  readonly account: LocalAccount
  readonly clock: TestClock
  readonly messages: { readonly message: Message; readonly dueMs: number }[] = []
  readonly groups = new Map<string, ReturnType<typeof guardedGroup>>()
  readonly healthy: Service

  private constructor(account: LocalAccount, clock: TestClock) {
    this.account = account
    this.clock = clock
    this.healthy = this.newService(new Life())
  }

  static async start(): Promise<MergeServers> {
    const clock = testClock(Date.parse('2030-01-01T00:00:00Z'))
    return new MergeServers(await startDirectAccount(clock.nowMs), clock)
  }

  newService(life: Life): Service {
    const { nowMs, sleep } = this.clock
    const container = directDatabase(this.account.cosmos, (call) => life.make(call))
    const messageQueue = {
      enqueue: async (message: Message, { delayMs = 0 }) =>
        life.make(async () => void this.messages.push({ message, dueMs: nowMs() + delayMs })),
    }
    const parts = { nowMs, elapsedMs: nowMs, sleep, messageQueue, directory: this.#directory() }
    return builtService(container, parts, { clockDifferenceS: 0 })
  }

  /**
   * Evaluates a tenant and handles all messages, in a process that meets no faults, until none is left.
   * @param handle Handles a message in another way.
   */
  async follow(tenantId: string, handle = (message: Message) => this.handle(message)): Promise<void> {
    // One evaluation serves all that were enqueued.
    for (const each of this.messages.filter(({ message }) => message.queue === 'evaluations')) {
      this.messages.splice(this.messages.indexOf(each), 1)
    }
    await this.healthy.evaluator.evaluate(tenantId)
    for (let count = 0; this.messages.length > 0; count += 1) {
      assert.ok(count < MAX_MESSAGES_COUNT, 'The messages never end')
      const [next] = this.messages.sort((left, right) => left.dueMs - right.dueMs).splice(0, 1)
      if (next === undefined) return
      const waitMs = next.dueMs - this.clock.nowMs()
      if (waitMs > 0) await this.clock.sleep(waitMs)
      await handle(next.message)
    }
  }

  handle({ queue, message }: Message, service = this.healthy): Promise<void> {
    return service.messages[queue].handle(message)
  }

  #directory(): Directory {
    const of = (groupId: string): Directory => {
      const group = this.groups.get(groupId)
      assert.ok(group !== undefined)
      return group.directory
    }
    return {
      ...guardedGroup([], this.clock.nowMs).directory,
      listMembers: (tenantId, groupId, after) => of(groupId).listMembers(tenantId, groupId, after),
      addMembers: (tenantId, groupId, ...rest) => of(groupId).addMembers(tenantId, groupId, ...rest),
      removeMembers: (tenantId, groupId, ...rest) => of(groupId).removeMembers(tenantId, groupId, ...rest),
    }
  }
}
