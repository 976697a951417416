import type { ConnectorRecord } from '../../../shared/domain/connectors/connector-health.ts'
import type { Api } from '../api.ts'
import { CardList } from '../components/card-list.tsx'
import { Copyable } from '../components/delivery-help.tsx'
import { OptionalText } from '../components/fields.tsx'
import { ListSection } from '../components/list-section.tsx'
import { Page, Section } from '../components/page.tsx'
import { RecordList } from '../components/record-list.tsx'
import { coreAttributeText } from '../condition/attribute-text.ts'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import { ConflictsSection, DuplicatesSection } from './conflicting-data.tsx'
import { CONNECTORS, ConnectorHealth, LastDelivery } from './connectors.tsx'
import { VacanciesSection, WithoutAccountSection } from './missing-data.tsx'

/** What is wrong or missing in the data of all sources, with names. */
export function QualityView() {
  return (
    <Page title={t('quality')}>
      <SourcesSection />
      <WithoutAccountSection />
      <VacanciesSection />
      <ConflictsSection />
      <DuplicatesSection />
      <UnresolvedSection />
      <DeadLettersSection />
    </Page>
  )
}

/** The sources that are late or have faults, first. */
function SourcesSection() {
  const { api } = useConsole()
  const connectors = useResource('connectors', async () => {
    const all = await api.all<ConnectorRecord>(CONNECTORS)
    return all.sort((left, right) => weightOf(left) - weightOf(right))
  })
  return (
    <ListSection
      list={CardList}
      title={t('lastDeliveries')}
      resource={connectors}
      keyOf={({ id }) => id}
      empty={t('connectorsEmpty')}
      columns={[
        { head: t('name'), cell: ({ id, name }) => <a href={hrefOf(`/connectors/${id}`)}>{name}</a> },
        { head: t('health'), cell: ({ health }) => <ConnectorHealth health={health} /> },
        { head: t('lastDelivery'), cell: (connector) => <LastDelivery connector={connector} /> },
        {
          head: t('expectedInterval'),
          cell: ({ expectedIntervalHours: hours }) => (
            <OptionalText value={hours === null ? null : t('hoursCount', { count: hours })} />
          ),
        },
      ]}
    />
  )
}

const weightOf = ({ health }: ConnectorRecord): number => ['Late', 'Unresolved', 'Healthy'].indexOf(health)

/** A reference as `GET /connectors/{id}/unresolved` lists it. */
type Unresolved = {
  readonly objectType: 'identity' | 'orgUnit' | 'relationship'
  readonly externalId: string
  readonly attribute: string
  readonly reference: string
}
type UnresolvedOf = Unresolved & { readonly connectorId: string; readonly connectorName: string }

type FoundReferences = { readonly rows: readonly UnresolvedOf[]; readonly areAll: boolean }

/** References of each source that are shown at most. */
const SHOWN_OF_SOURCE_COUNT = 200

function UnresolvedSection() {
  const { api } = useConsole()
  const references = useResource('unresolved', (signal) => readUnresolved(api, signal))
  return (
    <ListSection
      list={RecordList}
      title={t('unresolvedReferences')}
      resource={{ ...references, value: references.value?.rows }}
      keyOf={(row) => `${row.connectorId} ${row.objectType} ${row.externalId} ${row.attribute} ${row.reference}`}
      empty={t('unresolvedReferencesEmpty')}
      columns={[
        {
          head: t('source'),
          text: ({ connectorName }) => connectorName,
          path: ({ connectorId }) => `/connectors/${connectorId}`,
        },
        { head: t('externalId'), text: ({ externalId }) => externalId },
        {
          head: t('attribute'),
          cell: ({ attribute }) => <span class="capital">{coreAttributeText(attribute)}</span>,
        },
        { head: t('namesMissing'), text: ({ reference }) => reference },
      ]}
    >
      {references.value?.areAll === false && (
        <p class="hint">{t('firstOfEachSource', { count: SHOWN_OF_SOURCE_COUNT })}</p>
      )}
    </ListSection>
  )
}

/**
 * Messages that failed until Service Bus gave them up. The service itself may not read them: its operators list and
 * replay them with a command.
 */
function DeadLettersSection() {
  return (
    <Section title={t('deadLetters')}>
      <p>{t('deadLettersHint')}</p>
      <Copyable text="npm run dead-letters -- list" />
      <Copyable text="npm run dead-letters -- replay --dry-run" />
      <p class="hint">{t('deadLettersAlert')}</p>
    </Section>
  )
}

async function readUnresolved(api: Api, signal: AbortSignal): Promise<FoundReferences> {
  const connectors = await api.all<ConnectorRecord>(CONNECTORS)
  const pages = await Promise.all(
    connectors.map(async ({ id: connectorId, name: connectorName }) => {
      const path = `${CONNECTORS}/${connectorId}/unresolved?pageSize=${SHOWN_OF_SOURCE_COUNT}`
      const { items, nextCursor } = await api.page<Unresolved>(path, signal)
      return { rows: items.map((item) => ({ ...item, connectorId, connectorName })), nextCursor }
    }),
  )
  const areAll = pages.every(({ nextCursor }) => nextCursor === undefined)
  return { rows: pages.flatMap(({ rows }) => rows), areAll }
}
