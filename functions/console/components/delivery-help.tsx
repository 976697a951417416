import { useEffect, useState } from 'preact/hooks'
import type { ConnectorRecord } from '../../../shared/domain/connectors/connector-health.ts'
import { t } from '../language/texts.ts'
import { Section } from './page.tsx'

/** The files of the importer, with the columns that most sources have. */
const TEMPLATES = {
  'orgunits.csv': ['externalId', 'displayName', 'type', 'parent', 'manager'],
  'identities.csv': ['externalId', 'displayName', 'firstName', 'lastName', 'email', 'nin', 'directoryObjectId'],
  'relationships.csv': ['externalId', 'identity', 'orgUnit', 'title', 'employeeId', 'startDate', 'endDate', 'manager'],
} as const

/** How data come into a source: files to fill in, and the command that sends them. */
export function DeliveryHelp({ connector: { id, clientId } }: { readonly connector: ConnectorRecord }) {
  const templates = useTemplates()
  const command = `CLIENT_ID=${clientId} npm run import -- ./data --connector ${id} --api-url ${location.origin} --dry-run`
  return (
    <Section title={t('sendData')}>
      <ol class="list">
        <li>
          {t('sendDataFiles')}
          <div class="actions">
            {templates.map(([file, address]) => (
              <a key={file} class="button" download={file} href={address}>
                {file}
              </a>
            ))}
          </div>
        </li>
        <li>
          {t('sendDataCommand')}
          <Copyable text={command} />
        </li>
        <li>{t('sendDataWithoutDryRun')}</li>
      </ol>
    </Section>
  )
}

/** The addresses of the files, for as long as they are shown. */
function useTemplates(): readonly (readonly [file: string, address: string])[] {
  const [addresses] = useState(() =>
    Object.entries(TEMPLATES).map(([file, columns]) => {
      const content = new Blob([`${columns.join(',')}\r\n`], { type: 'text/csv;charset=utf-8' })
      return [file, URL.createObjectURL(content)] as const
    }),
  )
  useEffect(
    () => () => {
      for (const [, address] of addresses) URL.revokeObjectURL(address)
    },
    [addresses],
  )
  return addresses
}

/** A text to copy as it is. */
export function Copyable({ text }: { readonly text: string }) {
  const [isCopied, setCopied] = useState(false)
  return (
    <div class="copyable">
      <code>{text}</code>
      <button
        type="button"
        onClick={() => {
          navigator.clipboard.writeText(text).then(
            () => setCopied(true),
            () => setCopied(false),
          )
        }}
      >
        {t('copy')}
      </button>
      <span class="hint" role="status">
        {isCopied && t('copied')}
      </span>
    </div>
  )
}
