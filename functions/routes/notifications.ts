import type { MailDependencies } from '../../shared/domain/mail/mail-dependencies.ts'
import {
  changeNotifications,
  NotificationsDto,
  NotificationsInput,
  readNotifications,
} from '../../shared/domain/mail/notifications.ts'
import { ok, type Route, route } from '../../shared/http/route.ts'
import { PERSON_ROLES, personOf } from './collection-contract.ts'

export type NotificationRouteDependencies = Pick<MailDependencies, 'mailboxes'>

/** When the caller gets mails. */
export const notificationRoutes = (deps: NotificationRouteDependencies): readonly Route[] => [
  route('GET', '/me/notifications', {
    operationId: 'getNotifications',
    summary: 'Get when I get mails',
    description:
      'Returns when the caller gets mails: about requests that wait for their decision or for that of a person whom they ' +
      'represent, with reminders, about decisions on their own requests, and before their memberships end. `Immediately` ' +
      "until the caller changes it. Mails go to the `email` of the caller's identity, in English or Norwegian by its " +
      '`preferredLanguage`. None are sent where the service has no mailbox.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    reply: { status: 200, schema: NotificationsDto },
    run: async (input) => ok(await readNotifications(personOf(input), deps)),
  }),
  route('PUT', '/me/notifications', {
    operationId: 'changeNotifications',
    summary: 'Change when I get mails',
    description: 'Takes effect with the next mail. With `None`, what waits for a daily mail is not sent any more.',
    roles: PERSON_ROLES,
    identity: { exempt: [] },
    body: NotificationsInput,
    reply: { status: 200, schema: NotificationsDto },
    refusals: ['StaleVersion'],
    run: async (input) => ok(await changeNotifications(personOf(input), input.body, deps)),
  }),
]
