import { dispatcher } from '../../../shared/http/dispatch.ts'
import { startDirectAccount } from '../contract/local-database.ts'
import { isTrouble, Life } from '../jobs/mortal-process.ts'
import { faults, joinableFixture } from './joinable-fixture.ts'

/** A tenant whose processes can be killed at a save of requests. */
export async function openMortalTenant() {
  let life = new Life()
  const fixture = await joinableFixture(dispatcher, undefined, async (nowMs) => {
    const account = await startDirectAccount(nowMs)
    const container: typeof account.container = (id) => {
      const inner = account.container(id)
      if (id !== 'requests') return inner
      const items = new Proxy(inner.items, {
        get: (target, name) =>
          name === 'batch'
            ? (...args: unknown[]) => life.make(() => Reflect.apply(target.batch, target, args))
            : Reflect.get(target, name, target),
      })
      return new Proxy(inner, { get: (target, name) => (name === 'items' ? items : Reflect.get(target, name, target)) })
    }
    return { ...account, container }
  })
  let service = fixture.service
  let request = fixture.requestsOf(service)
  return {
    fixture,
    get service() {
      return service
    },
    async call<Data>(token: string, method: string, path: string, body?: unknown) {
      const { status, body: text } = await request(method, path, { authorization: token }, body)
      return { status, data: JSON.parse(text ?? 'null')?.data as Data }
    },
    /** Runs the work in a process that is killed at its first save. Afterwards, another process goes on. */
    async killedAt(kill: 'before' | 'after' | undefined, work: () => Promise<unknown>): Promise<void> {
      if (kill === undefined) return void (await work())
      life.endAfter(kill === 'before' ? 0 : 1)
      await work().catch((error: unknown) => {
        if (!isTrouble(error)) throw error
      })
      if (!life.hasEnded) {
        life.meetNoMoreFaults()
        return
      }
      for (const fault of faults.splice(0)) if (!isTrouble(fault)) throw fault
      life = new Life()
      service = fixture.newService()
      request = fixture.requestsOf(service)
    },
  }
}

/** What `openMortalTenant` returns. */
export type MortalTenant = Awaited<ReturnType<typeof openMortalTenant>>
