import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CATALOGUES } from '../../shared/domain/mail/catalogues.ts'
import type { ItemOf, MailItem } from '../../shared/domain/mail/mail-item.ts'
import { type MailReader, renderMail } from '../../shared/domain/mail/render-mail.ts'
import type { Language } from '../../shared/kernel/mail-language.ts'

const CONSOLE = 'https://collections.example/console'
const PERSON: MailReader = { language: 'en', timeZone: 'Europe/Oslo', consoleUrl: CONSOLE, isOperator: false }
const OPERATOR: MailReader = { ...PERSON, isOperator: true }
const ENDS_AT_MS = Date.parse('2030-06-12T22:00:00Z')
const GRANTED = { kind: 'RequestGranted', collectionName: 'Choir', path: '/me', isExtension: false } as const
const STAYS_UNTIL_MS = Date.parse('2030-06-26T22:00:00Z')
const ENDING: ItemOf<'MembershipEnding'> = {
  kind: 'MembershipEnding',
  collectionName: 'Choir',
  path: '/me',
  endsAtMs: ENDS_AT_MS,
  staysUntilMs: null,
}
const LATE = (connectorName: string): MailItem => ({ kind: 'ConnectorLate', connectorName, path: '/connectors/1' })

describe('A mail', () => {
  it('has its subject, what it tells, a link into the console, the reason and a link to the preferences', () => {
    const { subject, text } = renderMail([{ ...GRANTED, endsAtMs: ENDS_AT_MS }], PERSON)
    assert.equal(subject, 'You are now a member of Choir')
    assert.equal(
      text,
      [
        'Your request was approved. You are now a member of Choir.',
        'The membership ends on 13 June 2030 at 00:00.',
        'See your memberships:\nhttps://collections.example/console/me',
        '--',
        'You get this message because you take part in these collections.',
        'Choose when you get messages:\nhttps://collections.example/console/me\n',
      ].join('\n\n'),
    )
  })

  it('says the same in HTML, in one heading, with its language, and loads nothing', () => {
    const { html } = renderMail([{ ...GRANTED, endsAtMs: null }], PERSON)
    const body = html.slice(html.indexOf('<body>'))
    assert.equal(
      body,
      [
        '<body>',
        '<main>\n<h1>You are now a member of Choir</h1>',
        '<p>Your request was approved. You are now a member of Choir.</p>',
        `<p><a href="${CONSOLE}/me">See your memberships</a></p>\n</main>`,
        '<footer>\n<p>You get this message because you take part in these collections.</p>',
        `<p><a href="${CONSOLE}/me">Choose when you get messages</a></p>\n</footer>`,
        '</body>\n</html>\n',
      ].join('\n'),
    )
    assert.ok(html.startsWith('<!doctype html>\n<html lang="en">'))
    assert.ok(html.includes('<title>You are now a member of Choir</title>'))
    assert.doesNotMatch(html, /src=|url\(|@import|<script|<link/)
  })

  it('to an operator has no preferences', () => {
    const { text, html } = renderMail([LATE('HR')], OPERATOR)
    assert.ok(
      text.endsWith('--\n\nYou get this message because your address is one of the operators in the settings.\n'),
    )
    assert.ok(!html.includes('/console/me'))
  })

  it('has no links where the address of the console is not known', () => {
    const { text, html } = renderMail([ENDING], { ...PERSON, consoleUrl: undefined })
    assert.doesNotMatch(`${text}${html}`, /http|\/me|See your memberships|Choose when/)
    assert.match(text, /^Your membership of Choir ends on 13 June 2030 at 00:00\./)
  })

  it('of several things has their number as subject, and a heading for each', () => {
    const { subject, text, html } = renderMail([ENDING, { ...GRANTED, endsAtMs: null }], PERSON)
    assert.equal(subject, '2 notifications')
    assert.ok(text.startsWith('Your membership of Choir ends soon\n\nYour membership of Choir ends on'))
    assert.ok(text.includes('\n\nYou are now a member of Choir\n\nYour request was approved.'))
    assert.ok(html.includes('<h1>2 notifications</h1>\n<h2>Your membership of Choir ends soon</h2>\n<p>'))
  })

  for (const [language, subject, lines] of [
    [
      'en',
      '3 notifications',
      [
        '2 earlier notifications are left out',
        'The inbox shows what waits for your decision.',
        `Open the inbox:\n${CONSOLE}/inbox`,
      ],
    ],
    [
      'no',
      '3 varsler',
      [
        '2 tidligere varsler er utelatt',
        'Innboksen viser hva som venter på at du avgjør det.',
        `Åpne innboksen:\n${CONSOLE}/inbox`,
      ],
    ],
  ] as const) {
    it(`counts earlier events that it leaves out, with a link to the inbox, in ${language}`, () => {
      const mail = renderMail([ENDING], { ...PERSON, language }, 2)
      assert.equal(mail.subject, subject)
      assert.ok(mail.text.includes(`\n\n${lines.join('\n\n')}\n\n--\n\n`), mail.text)
    })
  }

  it('to an operator counts what it leaves out, without the inbox', () => {
    const { text } = renderMail([LATE('HR')], OPERATOR, 1)
    assert.match(text, /\n\n1 earlier notification is left out\n\n--/)
    assert.doesNotMatch(text, /inbox/)
  })

  it('of one thing has its heading once', () => {
    const { text, html } = renderMail([ENDING], PERSON)
    assert.ok(!html.includes('<h2>'))
    assert.ok(!text.includes('ends soon'))
  })

  it('gives dates in the language and the time zone', () => {
    assert.match(renderMail([ENDING], { ...PERSON, language: 'no' }).text, /13\. juni 2030/)
    assert.match(renderMail([ENDING], { ...PERSON, timeZone: 'UTC' }).text, /12 June 2030 at 22:00/)
  })

  for (const language of Object.keys(CATALOGUES) as Language[])
    it(`names everything that it is about, in ${language}`, () => {
      const of = (item: MailItem) => renderMail([item], { ...PERSON, language })
      const request = { collectionName: 'Choir', requesterName: 'Ola', path: '/inbox/1/2' }
      const cancelled = new Set<string>()
      for (const isExtension of [false, true]) {
        for (const kind of ['RequestWaiting', 'RequestReminder'] as const) {
          const { text } = of({ kind, ...request, isExtension, onBehalfOf: 'Kari' })
          for (const name of ['Choir', 'Ola', 'Kari', '/inbox/1/2']) assert.ok(text.includes(name), `${kind} ${name}`)
          assert.ok(!of({ kind, ...request, isExtension, onBehalfOf: null }).text.includes('null'))
        }
        const own = { collectionName: 'Choir', path: '/me', isExtension, isOver: false }
        const rejected = of({ kind: 'RequestRejected', ...own })
        assert.ok(rejected.text.includes('Choir') && rejected.subject.includes('Choir'))
        for (const reason of ['NotDecided', 'Deleted', 'HandedOver'] as const) {
          const { subject, text } = of({ kind: 'RequestCancelled', ...own, reason })
          assert.ok(text.includes('Choir') && subject.includes('Choir'))
          cancelled.add(text)
        }
      }
      assert.equal(cancelled.size, 6)
      for (const kind of ['LinkFailed', 'LinkPaused', 'RemovalsHeld'] as const) {
        const { subject, text } = of({ kind, collectionName: 'Choir', groupName: 'Group', path: '/links/1' })
        assert.ok(subject.includes('Group') && text.includes('Group') && text.includes('Choir'), kind)
      }
      assert.ok(of(LATE('HR')).text.includes('HR'))
      const disabled = (isGone: boolean) =>
        of({ kind: 'SubscriptionDisabled', host: 'a.example', isGone, path: '' }).text
      assert.ok(disabled(true).includes('a.example') && disabled(false).includes('a.example'))
      assert.notEqual(disabled(true), disabled(false))
    })
})

describe('A mail about an extension that is not granted', () => {
  const EXTENSION = { collectionName: 'Choir', path: '/me', isExtension: true } as const
  const items = (isOver: boolean): MailItem[] => [
    { kind: 'RequestRejected', ...EXTENSION, isOver },
    { kind: 'RequestCancelled', ...EXTENSION, isOver, reason: 'NotDecided' },
  ]
  for (const [language, stays, over] of [
    ['en', 'The end of the membership stays as it was.', 'The end has passed, so the membership is over.'],
    ['no', 'Medlemskapet slutter når det skulle.', 'Sluttdatoen er passert, så medlemskapet er over.'],
  ] as const) {
    it(`says that the membership is over where its end has passed, in ${language}`, () => {
      for (const isOver of [false, true]) {
        for (const item of items(isOver)) {
          const { text } = renderMail([item], { ...PERSON, language })
          assert.deepEqual([text.includes(stays), text.includes(over)], [!isOver, isOver], text)
        }
      }
    })
  }
})

describe('The mail about the end of a membership', () => {
  const paragraphs = (item: MailItem, language: Language) =>
    renderMail([item], { ...PERSON, language })
      .text.split('\n\n')
      .slice(0, 2)

  it('says that the member can ask for a later end', () => {
    assert.deepEqual(paragraphs(ENDING, 'en'), [
      'Your membership of Choir ends on 13 June 2030 at 00:00.',
      'If you still need it, ask for a later end before then.',
    ])
    assert.deepEqual(paragraphs(ENDING, 'no'), [
      'Medlemskapet ditt i Choir slutter 13. juni 2030 kl. 00:00.',
      'Hvis du fortsatt trenger det, kan du be om en senere sluttdato før den tid.',
    ])
  })

  it('says how long the member stays while a later end waits for a decision, and does not ask for a request', () => {
    const waiting = { ...ENDING, staysUntilMs: STAYS_UNTIL_MS }
    assert.deepEqual(paragraphs(waiting, 'en'), [
      'Your membership of Choir ends on 13 June 2030 at 00:00.',
      'A request for a later end waits for a decision. Without a decision by then, the membership stays, until ' +
        '27 June 2030 at 00:00 at the latest.',
    ])
    assert.deepEqual(paragraphs(waiting, 'no'), [
      'Medlemskapet ditt i Choir slutter 13. juni 2030 kl. 00:00.',
      'En forespørsel om en senere sluttdato venter på en avgjørelse. Er den ikke avgjort innen den tid, fortsetter ' +
        'medlemskapet, men ikke lenger enn til 27. juni 2030 kl. 00:00.',
    ])
  })
})

describe('A name in a mail', () => {
  it('cannot add markup', () => {
    const { html } = renderMail([LATE('<b>&"x"')], OPERATOR)
    assert.ok(html.includes('The connector &lt;b&gt;&amp;&quot;x&quot; is late'))
  })

  it('stays on one line', () => {
    const { subject } = renderMail([LATE(' HR\r\nBcc: a@b.example\u2028 ')], OPERATOR)
    assert.equal(subject, 'The connector HR Bcc: a@b.example is late')
  })

  it('cannot turn the direction of the text after it', () => {
    const { subject } = renderMail([LATE('\u202eRH')], OPERATOR)
    assert.equal(subject, 'The connector \u2068\u202eRH\u2069 is late')
  })

  it('is cut where the subject would have more than 200 characters', () => {
    const fixed = 'The connector  is late'.length
    const name = '😀'.repeat(200 - fixed)
    assert.equal(renderMail([LATE(name)], OPERATOR).subject, `The connector ${name} is late`)
    const { subject } = renderMail([LATE(`${name}x`)], OPERATOR)
    assert.deepEqual([[...subject].length, subject.endsWith(' is la…')], [200, true])
  })
})
