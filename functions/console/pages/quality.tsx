import type { AccountConflict } from '../../../shared/domain/connectors/account-claims.ts'
import type { ConnectorRecord } from '../../../shared/domain/connectors/connector-health.ts'
import type { Duplicate } from '../../../shared/domain/connectors/duplicates.ts'
import type { CoreObjectDto } from '../../../shared/domain/core/core-object-dto.ts'
import type { Api } from '../api.ts'
import { CardList } from '../components/card-list.tsx'
import { Copyable } from '../components/delivery-help.tsx'
import { OptionalText } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { RecordList } from '../components/record-list.tsx'
import { coreAttributeText } from '../condition/attribute-text.ts'
import { CORE_OBJECTS, coreNameOf, IDENTITIES, objectNames, referenceId, textOf } from '../core-objects.ts'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import { CONNECTORS, ConnectorHealth, LastDelivery } from './connectors.tsx'

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
  const connectors = useResource('connectors', () => api.all<ConnectorRecord>(CONNECTORS))
  return (
    <Section title={t('lastDeliveries')}>
      <Loaded resource={connectors}>
        {(all) => (
          <CardList
            label={t('lastDeliveries')}
            items={all.toSorted((left, right) => weightOf(left) - weightOf(right))}
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
        )}
      </Loaded>
    </Section>
  )
}

const weightOf = ({ health }: ConnectorRecord): number => ['Late', 'Unresolved', 'Healthy'].indexOf(health)

function WithoutAccountSection() {
  const { api } = useConsole()
  const people = useResource('without-account', () => api.all<CoreObjectDto>(`${IDENTITIES}?account=missing`))
  return (
    <Section title={t('peopleWithoutAccount')} actions={<Total resource={people.value} />}>
      <p class="hint">{t('peopleWithoutAccountHint')}</p>
      <Loaded resource={people}>
        {(all) => (
          <RecordList
            label={t('peopleWithoutAccount')}
            items={all}
            keyOf={({ id }) => id}
            empty={t('peopleWithoutAccountEmpty')}
            columns={[
              {
                head: t('name'),
                sortBy: coreNameOf,
                cell: (person) => <a href={hrefOf(`/people/${person.id}`)}>{coreNameOf(person)}</a>,
              },
              {
                head: t('email'),
                sortBy: ({ email }) => textOf(email),
                cell: ({ email }) => <OptionalText value={textOf(email)} />,
              },
              { head: t('externalId'), sortBy: ({ externalId }) => externalId, cell: ({ externalId }) => externalId },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function Total({ resource }: { readonly resource: readonly unknown[] | undefined }) {
  return <p class="faint">{resource !== undefined && t('totalCount', { count: resource.length })}</p>
}

function VacanciesSection() {
  const { api } = useConsole()
  const positions = useResource('vacancies', async () => {
    const all = await api.all<CoreObjectDto>(`${CORE_OBJECTS}/relationships?identity=missing`)
    const units = await objectNames(
      'orgunits',
      all.flatMap(({ orgUnit }) => referenceId(orgUnit) ?? []),
      api,
    )
    return all.map((position) => ({ position, unit: units.get(referenceId(position.orgUnit) ?? '') }))
  })
  return (
    <Section title={t('positionsWithoutPerson')} actions={<Total resource={positions.value} />}>
      <Loaded resource={positions}>
        {(all) => (
          <RecordList
            label={t('positionsWithoutPerson')}
            items={all}
            keyOf={({ position }) => position.id}
            empty={t('positionsWithoutPersonEmpty')}
            columns={[
              {
                head: t('title'),
                sortBy: ({ position }) => textOf(position.title),
                cell: ({ position }) => <OptionalText value={textOf(position.title)} />,
              },
              { head: t('orgUnit'), sortBy: ({ unit }) => unit, cell: ({ unit }) => <OptionalText value={unit} /> },
              { head: t('externalId'), cell: ({ position }) => position.externalId },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

type Names = ReadonlyMap<string, string>

/** Accounts that several people claim: a fault in the data of a source. */
function ConflictsSection() {
  const { api } = useConsole()
  const conflicts = useResource('conflicts', async () => {
    const { data } = await api.send<AccountConflict[]>('GET', `${CORE_OBJECTS}/account-conflicts`)
    const ids = data.flatMap(({ holderId, claimantIds }) => [holderId, ...claimantIds])
    return { all: data, names: await objectNames('identities', ids, api) }
  })
  return (
    <Section title={t('conflicts')}>
      <Loaded resource={conflicts}>
        {({ all, names }) => (
          <CardList
            label={t('conflicts')}
            items={all}
            keyOf={({ directoryObjectId }) => directoryObjectId}
            empty={t('conflictsEmpty')}
            columns={[
              { head: t('account'), cell: ({ directoryObjectId }) => <code>{directoryObjectId}</code> },
              { head: t('holder'), cell: ({ holderId }) => <PeopleLinks ids={[holderId]} names={names} /> },
              { head: t('claimants'), cell: ({ claimantIds }) => <PeopleLinks ids={claimantIds} names={names} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function DuplicatesSection() {
  const { api } = useConsole()
  const duplicates = useResource('duplicates', async () => {
    const { data } = await api.send<Duplicate[]>('GET', `${CORE_OBJECTS}/duplicates`)
    const ids = data.flatMap(({ identityIds }) => identityIds)
    return { all: data, names: await objectNames('identities', ids, api) }
  })
  return (
    <Section title={t('duplicates')}>
      <p class="hint">{t('duplicatesHint')}</p>
      <Loaded resource={duplicates}>
        {({ all, names }) => (
          <CardList
            label={t('duplicates')}
            items={all}
            keyOf={({ key, identityIds }) => `${key} ${identityIds.join()}`}
            empty={t('duplicatesEmpty')}
            columns={[
              { head: t('people'), cell: ({ identityIds }) => <PeopleLinks ids={identityIds} names={names} /> },
              { head: t('sameKey'), cell: ({ key }) => <span class="capital">{coreAttributeText(key)}</span> },
              {
                head: t('value'),
                cell: ({ value }) => (value === 'hidden' ? <span class="faint">{t('valueHidden')}</span> : value),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function PeopleLinks({ ids, names }: { readonly ids: readonly string[]; readonly names: Names }) {
  return (
    <>
      {ids.map((id) => (
        <div key={id}>
          <a href={hrefOf(`/people/${id}`)}>{names.get(id) ?? id}</a>
        </div>
      ))}
    </>
  )
}

/** A reference as `GET /connectors/{id}/unresolved` lists it. */
type Unresolved = {
  readonly objectType: 'identity' | 'orgUnit' | 'relationship'
  readonly externalId: string
  readonly attribute: string
  readonly reference: string
}
type UnresolvedOf = Unresolved & { readonly connectorId: string; readonly connectorName: string }

/** References of each source that are shown at most. */
const SHOWN_OF_SOURCE_COUNT = 200

function UnresolvedSection() {
  const { api } = useConsole()
  const references = useResource('unresolved', (signal) => readUnresolved(api, signal))
  return (
    <Section title={t('unresolvedReferences')}>
      <Loaded resource={references}>
        {(all) => (
          <RecordList
            label={t('unresolvedReferences')}
            items={all}
            keyOf={(row) => `${row.connectorId} ${row.objectType} ${row.externalId} ${row.attribute} ${row.reference}`}
            empty={t('unresolvedReferencesEmpty')}
            columns={[
              {
                head: t('source'),
                sortBy: ({ connectorName }) => connectorName,
                cell: ({ connectorId, connectorName }) => (
                  <a href={hrefOf(`/connectors/${connectorId}`)}>{connectorName}</a>
                ),
              },
              { head: t('externalId'), sortBy: ({ externalId }) => externalId, cell: ({ externalId }) => externalId },
              {
                head: t('attribute'),
                cell: ({ attribute }) => <span class="capital">{coreAttributeText(attribute)}</span>,
              },
              { head: t('namesMissing'), sortBy: ({ reference }) => reference, cell: ({ reference }) => reference },
            ]}
          />
        )}
      </Loaded>
    </Section>
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

async function readUnresolved(api: Api, signal: AbortSignal): Promise<readonly UnresolvedOf[]> {
  const connectors = await api.all<ConnectorRecord>(CONNECTORS)
  const pages = await Promise.all(
    connectors.map(async ({ id: connectorId, name: connectorName }) => {
      const path = `${CONNECTORS}/${connectorId}/unresolved?pageSize=${SHOWN_OF_SOURCE_COUNT}`
      const { items } = await api.page<Unresolved>(path, signal)
      return items.map((item) => ({ ...item, connectorId, connectorName }))
    }),
  )
  return pages.flat()
}
