/** Texts of mails to people and operators, and of the time zone. */
export const englishMail = {
  mailDaily: 'Once a day',
  mailDailyHint: 'One mail at 07:00, if there is anything to tell.',
  mailImmediately: 'At once',
  mailImmediatelyHint: 'What exceeds 50 mails a day comes in one mail at 07:00.',
  mailLanguage: 'Language of mails',
  mailLanguageHint: 'For operators, and for people whose language is not known.',
  mailNone: 'Never',
  mailNoneHint: 'What waits for a daily mail is not sent any more.',
  mails: 'Mails',
  notifications: 'Notifications',
  notificationsHint:
    'Mails tell you of requests that wait for you, of decisions on your requests, and of memberships that end soon.',
  operators: 'Operators',
  operatorsHint:
    'At most 10 mail addresses, one on each line. They are told of links that fail or are paused, of held removals, and of late sources.',
  timeZone: 'Time zone',
  timeZoneHint:
    'Days begin in this zone: "today" and dates in conditions, and ends of memberships. A change is in the members within a minute.',
} as const
