import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type MailFixture, type MailPerson, mailFixture, mailServer } from './mail-fixture.ts'

const PEOPLE = ['Anna', 'Bo', 'Cato', 'Dag'] as const
const HALF_DAY_S = 43_200

const person = fc.constantFrom(...PEOPLE)
const people = fc.uniqueArray(person, { minLength: 1, maxLength: 3 })
const gate = fc.record({
  approvers: people,
  reminderDays: fc.option(fc.integer({ min: 1, max: 2 }), { nil: undefined }),
  fallback: fc.option(people, { nil: undefined }),
})
const policy = fc.array(gate, { minLength: 1, maxLength: 2 })
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('submit' as const), who: person }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('approve' as const, 'reject' as const), who: person }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cancel' as const), who: person }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('deputy' as const), who: person, deputy: person }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('edit' as const), policy }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('prefer' as const), who: person, daily: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('pass' as const) }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never
type Policy = typeof policy extends fc.Arbitrary<infer T> ? T : never

type Listed = { readonly id: string; readonly collectionId: string; readonly requesterId: string }

/** Random policies, people, deputies and clocks: who gets a mail of a request can read it at that time. */
export function mailsProperty({ runs }: { readonly runs: number }): void {
  const server = mailServer()
  const seed = Number(process.env.FAST_CHECK_SEED ?? Math.floor(Math.random() * 2 ** 31))

  describe(`mails in random runs (seed ${seed})`, () => {
    it('go to nobody who may not see the request', async () => {
      let mailCount = 0
      await fc.assert(
        fc.asyncProperty(policy, fc.array(step, { minLength: 4, maxLength: 14 }), async (first, steps) => {
          const run = await newRun(await mailFixture(server), first)
          for (const step of steps) await run.take(step)
          mailCount += run.seenCount()
        }),
        { seed, numRuns: runs },
      )
      assert.ok(mailCount > runs / 2, `${mailCount} mails`)
    })
  })
}

async function newRun(fixture: MailFixture, first: Policy) {
  const all = new Map<string, MailPerson>()
  for (const name of PEOPLE) all.set(name, await fixture.reader(name))
  const find = (name: string) => all.get(name) ?? assert.fail(name)
  const collectionId = await fixture.joinable(policyOf(first, find))
  let seen = 0

  /** Each mail says which request it is about by its link. */
  async function check(): Promise<void> {
    const mails = fixture.mails()
    for (const { to, text, subject } of mails.slice(seen)) {
      const reader = [...all.values()].find(({ email }) => to.includes(email)) ?? assert.fail(`mail to ${to}`)
      for (const [, requestId] of (text ?? '').matchAll(/\/inbox\/[0-9a-f-]+\/([0-9a-f-]+)/g)) {
        const { status } = await fixture.call(reader.token, 'GET', `${fixture.requests}/${collectionId}/${requestId}`)
        assert.equal(status, 200, `${reader.name} got "${subject}"`)
      }
    }
    seen = mails.length
  }

  async function waiting(name: string): Promise<Listed | undefined> {
    return (await fixture.call<Listed[]>(find(name).token, 'GET', `${fixture.requests}/inbox`)).data?.[0]
  }

  async function act(given: Step): Promise<void> {
    switch (given.kind) {
      case 'submit':
        await fixture.submit(find(given.who), collectionId)
        return
      case 'approve':
      case 'reject': {
        const request = await waiting(given.who)
        if (request !== undefined) await fixture.act(find(given.who).token, request, given.kind)
        return
      }
      case 'cancel': {
        const { token } = find(given.who)
        const [request] = (await fixture.call<Listed[]>(token, 'GET', `${fixture.requests}/mine`)).data ?? []
        if (request !== undefined) await fixture.act(token, request, 'cancel')
        return
      }
      case 'deputy': {
        // Mails are looked at after each half day: a deputy's time ends right after a look, not between a mail and its look.
        const until = new Date(fixture.nowMs() + 2 * HALF_DAY_S * 1000 + 1).toISOString()
        const body = { deputyId: find(given.deputy).identityId, until }
        await fixture.call(find(given.who).token, 'PUT', `${fixture.requests}/deputy`, body)
        return
      }
      case 'edit': {
        const body = { objectType: 'Identity', name: 'Choir', joinPolicy: policyOf(given.policy, find) }
        await fixture.call(fixture.admin, 'PUT', `/collections-joinable/beta/${collectionId}`, body)
        return
      }
      case 'prefer': {
        const body = { mail: given.daily ? 'Daily' : 'Immediately' }
        await fixture.call(find(given.who).token, 'PUT', '/collections/beta/me/notifications', body)
        return
      }
      case 'pass':
        await fixture.passWithSweeps(HALF_DAY_S)
    }
  }

  return {
    seenCount: () => seen,
    /** Mails are sent, and looked at, after each step or only later, so that what they tell of has changed. */
    async take(given: Step): Promise<void> {
      await act(given)
      if (given.kind === 'approve' || given.kind === 'edit') return
      await fixture.drain()
      await check()
    },
  }
}

function policyOf(gates: Policy, find: (name: string) => MailPerson): object {
  const ids = (names: readonly string[]) => names.map((name) => find(name).identityId)
  return {
    approvalRequired: true,
    approvalGates: gates.map(({ approvers, reminderDays, fallback }, index) => ({
      ...{ order: index + 1, type: 'Identity', approvers: ids(approvers) },
      ...(reminderDays === undefined ? {} : { reminderDays }),
      ...(fallback === undefined ? {} : { fallback: { afterDays: 1, type: 'Identity', approvers: ids(fallback) } }),
    })),
  }
}
