import { type Static, Type } from 'typebox'
import { Refusal } from '../../kernel/refusals.ts'
import { Closed, Described } from '../../kernel/schema.ts'
import { retryOnConflict } from '../../kernel/versioned.ts'
import type { Person } from '../membership-requests/request-dependencies.ts'
import type { MailDependencies } from './mail-dependencies.ts'
import { MailFrequency, newMailbox } from './mailbox.ts'

const Mail = Described(
  MailFrequency,
  "`Daily`: one mail at 07:00 of the tenant's time zone, if there is anything to tell. Also with `Immediately`, what " +
    'exceeds 50 mails a day comes in one mail at that time.',
)

/** When a person gets mails. */
export const NotificationsDto = Closed({ mail: Mail })
export type NotificationsDto = Static<typeof NotificationsDto>

export const NotificationsInput = Type.Object({ mail: Mail })

type Mailboxes = Pick<MailDependencies, 'mailboxes'>

export async function readNotifications(
  { tenantId, identityId }: Person,
  { mailboxes }: Mailboxes,
): Promise<NotificationsDto> {
  const { mail } = (await mailboxes.find(tenantId, identityId))?.value ?? newMailbox(identityId)
  return { mail }
}

/** Takes effect with the next mail, also for what waits for a digest. @throws Refusal `StaleVersion`. */
export async function changeNotifications(
  { tenantId, identityId }: Person,
  { mail }: NotificationsDto,
  { mailboxes }: Mailboxes,
): Promise<NotificationsDto> {
  await retryOnConflict(async () => {
    const found = await mailboxes.find(tenantId, identityId)
    const mailbox = { ...(found?.value ?? newMailbox(identityId)), mail }
    if ((await mailboxes.save(tenantId, mailbox, found?.version)) === undefined) throw new Refusal('StaleVersion')
  })
  return { mail }
}
