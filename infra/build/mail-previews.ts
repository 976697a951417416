import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CATALOGUES } from '../../shared/domain/mail/catalogues.ts'
import type { MailItem } from '../../shared/domain/mail/mail-item.ts'
import { renderMail } from '../../shared/domain/mail/render-mail.ts'
import type { Language } from '../../shared/kernel/mail-language.ts'

/** Renders every mail in every language, so that people can look at them: `npm run mail-previews`. */
const FOLDER = join(import.meta.dirname, '../../.local/mail-previews')

const ENDS_AT_MS = Date.parse('2030-06-12T22:00:00Z')
const STAYS_UNTIL_MS = Date.parse('2030-06-26T22:00:00Z')
const REQUEST = { collectionName: 'First aiders', requesterName: 'Ola Nordmann', path: '/inbox/1/2' }
const LINK = { collectionName: 'All nurses', groupName: 'Nurses (synchronized)', path: '/links/1' }
const OWN = { collectionName: 'First aiders', path: '/me' }

const ITEMS: readonly MailItem[] = [
  { kind: 'RequestWaiting', ...REQUEST, isExtension: false, onBehalfOf: null },
  { kind: 'RequestWaiting', ...REQUEST, isExtension: true, onBehalfOf: 'Kari Nordmann' },
  { kind: 'RequestReminder', ...REQUEST, isExtension: false, onBehalfOf: null },
  { kind: 'RequestGranted', ...OWN, isExtension: false, endsAtMs: ENDS_AT_MS },
  { kind: 'RequestGranted', ...OWN, isExtension: true, endsAtMs: ENDS_AT_MS },
  { kind: 'RequestRejected', ...OWN, isExtension: false, isOver: false },
  { kind: 'RequestRejected', ...OWN, isExtension: true, isOver: true },
  { kind: 'RequestCancelled', ...OWN, isExtension: true, isOver: false, reason: 'NotDecided' },
  { kind: 'RequestCancelled', ...OWN, isExtension: false, isOver: false, reason: 'HandedOver' },
  { kind: 'MembershipEnding', ...OWN, endsAtMs: ENDS_AT_MS, staysUntilMs: null },
  { kind: 'MembershipEnding', ...OWN, endsAtMs: ENDS_AT_MS, staysUntilMs: STAYS_UNTIL_MS },
  { kind: 'LinkFailed', ...LINK },
  { kind: 'LinkPaused', ...LINK },
  { kind: 'RemovalsHeld', ...LINK },
  { kind: 'ConnectorLate', connectorName: 'HR system', path: '/connectors/1' },
  { kind: 'SubscriptionDisabled', host: 'events.example.com', isGone: false, path: '' },
]

const OF_OPERATORS: readonly MailItem['kind'][] = [
  'LinkFailed',
  'LinkPaused',
  'RemovalsHeld',
  'ConnectorLate',
  'SubscriptionDisabled',
]

function preview(name: string, items: readonly MailItem[], language: Language, omittedCount = 0): string {
  const isOperator = items.every(({ kind }) => OF_OPERATORS.includes(kind))
  const reader = { language, timeZone: 'Europe/Oslo', consoleUrl: 'http://localhost:7071/console', isOperator }
  const { subject, text, html } = renderMail(items, reader, omittedCount)
  const file = `${name}-${language}`
  writeFileSync(join(FOLDER, `${file}.html`), html)
  writeFileSync(join(FOLDER, `${file}.txt`), `Subject: ${subject}\n\n${text}`)
  return file
}

mkdirSync(FOLDER, { recursive: true })
const languages = Object.keys(CATALOGUES) as Language[]
const files = languages.flatMap((language) => [
  ...ITEMS.map((item, index) => preview(`${String(index + 1).padStart(2, '0')}-${item.kind}`, [item], language)),
  preview('digest', ITEMS.slice(0, 4), language),
  preview('digest-of-many', ITEMS.slice(0, 4), language, 12),
])
const links = files.map((file) => `<li><a href="${file}.html">${file}</a> (<a href="${file}.txt">text</a>)</li>`)
const head = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Mails</title>'
writeFileSync(join(FOLDER, 'index.html'), `${head}<h1>Mails</h1><ul>${links.join('')}</ul></html>\n`)
process.stdout.write(`${files.length} mails: ${join(FOLDER, 'index.html')}\n`)
