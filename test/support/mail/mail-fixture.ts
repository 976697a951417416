import { after, before, beforeEach } from 'node:test'
import type { SentMail } from '../../../infra/local/directory/graph/exchange.ts'
import type { Mailer } from '../../../shared/domain/mail/mail-dependencies.ts'
import { graphMailer } from '../../../shared/graph/graph-mailer.ts'
import type { QueueName } from '../../../shared/messaging/queues.ts'
import type { Person } from '../api/joinable-fixture.ts'
import { type EventFixture, eventFixture } from '../events/event-fixture.ts'
import { openDirectory, TENANT, type TestDirectory, testClock } from '../jobs/link-directory.ts'

export const SENDER = 'user0@one.example'

/** The local directory, which sends the mails of the service. One for the tests of a file. */
export function mailServer() {
  let opened: TestDirectory | undefined
  const directory = (): TestDirectory => {
    if (opened === undefined) throw new Error('The directory is not open')
    return opened
  }
  before(async () => {
    opened = await openDirectory(testClock())
  })
  after(() => opened?.close())
  beforeEach(() => {
    opened?.server.setFaults([])
  })
  const mailer = (sender = SENDER): Mailer => {
    const { send, nowMs } = directory().adapterParts((wire) => wire)
    return graphMailer({ sender, tenantId: TENANT, send, nowMs })
  }
  return { directory, mailer }
}

export type MailFixture = EventFixture & {
  /** The mails of this fixture that were sent so far, the oldest first. */
  mails(): readonly SentMail[]
  /** A person with an address. */
  reader(name: string, attributes?: Readonly<Record<string, string>>): Promise<MailPerson>
  /** The mails to a person so far. */
  to(person: MailPerson): readonly SentMail[]
  /** Advances the clock as `passWithMessages` does, with the daily look of the sweep for what ends. */
  passWithSweeps(seconds: number): Promise<void>
  /** Delivers the messages that are due, and loses those of a queue. */
  drainWithout(queue: QueueName): Promise<void>
}

export type MailPerson = Person & { readonly email: string; readonly name: string }

const CONSOLE = { publicUrl: 'https://collections.example', consoleClientId: '99999999-0000-4000-8000-000000000001' }

const DAY_S = 86_400

/** The service with a mailbox, over a local database and the local directory. */
export async function mailFixture({ directory, mailer }: ReturnType<typeof mailServer>): Promise<MailFixture> {
  const fixture = await eventFixture({
    overrides: { mailer: mailer(), directory: directory().directory },
    settings: CONSOLE,
  })
  const domain = `${fixture.tenantId}.example`
  const mails = () =>
    directory()
      .server.mails()
      .filter(({ to }) => to.every((address) => address.endsWith(`@${domain}`)))
      .toReversed()
  return {
    ...fixture,
    mails,
    async reader(name, attributes = {}) {
      const email = `${name.toLowerCase()}@${domain}`
      return { ...(await fixture.person(['User'], { displayName: name, email, ...attributes })), email, name }
    },
    to: ({ email }) => mails().filter(({ to }) => to.includes(email)),
    async passWithSweeps(seconds) {
      for (let rest = seconds; rest > 0; rest -= DAY_S) {
        await fixture.service.links.deadlines.enqueue(fixture.tenantId)
        await fixture.passWithMessages(Math.min(rest, DAY_S))
      }
    },
    async drainWithout(queue) {
      for (;;) {
        const kept = fixture.sent.filter(({ message }) => message.queue !== queue)
        fixture.sent.splice(0, fixture.sent.length, ...kept)
        const index = fixture.sent.findIndex(({ dueMs }) => dueMs <= fixture.nowMs())
        const [next] = index < 0 ? [] : fixture.sent.splice(index, 1)
        if (next === undefined) return
        await fixture.service.messages[next.message.queue].handle(next.message.message)
      }
    },
  }
}
