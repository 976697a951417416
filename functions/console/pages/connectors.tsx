import { useState } from 'preact/hooks'
import type { ConnectorRecord } from '../../../shared/domain/connectors/connector-health.ts'
import type { ConnectorObjectDto } from '../../../shared/domain/connectors/connector-object.ts'
import { CardList } from '../components/card-list.tsx'
import { DeliveryHelp } from '../components/delivery-help.tsx'
import { Badge, OptionalText } from '../components/fields.tsx'
import { FreshnessChart } from '../components/freshness-chart.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { RecordList } from '../components/record-list.tsx'
import { agoText, numberOf, t, timeOf } from '../language/texts.ts'
import { usePages, useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import { AttributeTypesSection, OBJECT_TYPE_TEXT } from './attribute-types.tsx'

export const CONNECTORS = '/iamcore/beta/sync/connectors'

/** The sources of people, positions and org units. */
export function ConnectorsView() {
  const { api } = useConsole()
  const connectors = useResource('connectors', () => api.all<ConnectorRecord>(CONNECTORS))
  return (
    <Page
      title={t('connectors')}
      actions={
        <a class="button primary" href={hrefOf('/connectors/new')}>
          {t('addSource')}
        </a>
      }
    >
      <Loaded resource={connectors}>
        {(all) => (
          <>
            {all.length > 0 && (
              <Section title={t('freshness')}>
                <FreshnessChart
                  deliveries={all.map(({ id, name, lastDeliveredAt }) => ({ id, name, at: lastDeliveredAt }))}
                  now={new Date()}
                />
              </Section>
            )}
            <CardList
              label={t('connectors')}
              items={all}
              keyOf={({ id }) => id}
              empty={t('connectorsEmpty')}
              columns={[
                { head: t('name'), text: ({ name }) => name, path: ({ id }) => `/connectors/${id}` },
                { head: t('state'), cell: ({ enabled }) => <ConnectorState isEnabled={enabled} /> },
                { head: t('health'), cell: ({ health }) => <ConnectorHealth health={health} /> },
                {
                  head: t('lastDelivery'),
                  sortBy: ({ lastDeliveredAt }) => lastDeliveredAt,
                  cell: (connector) => <LastDelivery connector={connector} />,
                },
                {
                  head: t('objects'),
                  isNumber: true,
                  sortBy: ({ objectCounts }) => objectTotal(objectCounts),
                  cell: ({ objectCounts }) => numberOf(objectTotal(objectCounts)),
                },
                { head: t('bindsAccounts'), cell: ({ bindsAccounts }) => (bindsAccounts ? t('yes') : t('no')) },
                { head: t('softDeletion'), cell: ({ softDeletionDays }) => softDeletionDays, isNumber: true },
                { head: t('created'), cell: ({ createdAt }) => timeOf(createdAt) },
              ]}
            />
          </>
        )}
      </Loaded>
    </Page>
  )
}

/** Data as stored count as well: a source that only repeats itself is alive. */
export function LastDelivery({ connector: { lastDeliveredAt } }: { readonly connector: ConnectorRecord }) {
  if (lastDeliveredAt === null) return <OptionalText value={t('never')} />
  return <span title={timeOf(lastDeliveredAt)}>{agoText(lastDeliveredAt, new Date())}</span>
}

/** Whether a source delivers in time, and whether its references lead to objects. */
export function ConnectorHealth({ health }: Pick<ConnectorRecord, 'health'>) {
  return <Badge kind={HEALTH_KIND[health]}>{t(`health${health}`)}</Badge>
}

const HEALTH_KIND = { Healthy: 'good', Late: 'bad', Unresolved: 'warn' } as const

function ConnectorState({ isEnabled }: { readonly isEnabled: boolean }) {
  return <Badge kind={isEnabled ? 'good' : 'plain'}>{isEnabled ? t('active') : t('inactive')}</Badge>
}

const OBJECTS_PER_PAGE = 500

/** One source, and the objects that it has delivered. */
export function ConnectorView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api } = useConsole()
  const path = `${CONNECTORS}/${id}`
  const connector = useResource(id, () => api.send<ConnectorRecord>('GET', path))
  const [hasSavedTypes, setSavedTypes] = useState(false)
  const objects = usePages(`${path}/data?pageSize=${OBJECTS_PER_PAGE}`, api.page<ConnectorObjectDto>)
  return (
    <Loaded resource={connector}>
      {({ data: shown, etag }) => (
        <Page
          title={shown.name}
          back={{ path: '/connectors', text: t('connectors') }}
          facts={
            <>
              <ConnectorState isEnabled={shown.enabled} />
              <ConnectorHealth health={shown.health} />
              <span>
                {t('client')}: <code>{shown.clientId}</code>
              </span>
              <span>
                {t('lastDelivery')}: <LastDelivery connector={shown} />
              </span>
            </>
          }
        >
          <DeliveryHelp connector={shown} />
          <AttributeTypesSection
            key={etag}
            path={path}
            connector={shown}
            etag={etag}
            isSaved={hasSavedTypes}
            onSaved={() => {
              setSavedTypes(true)
              connector.reload()
            }}
          />
          <Section
            title={t('objects')}
            actions={
              <p class="faint" role="status">
                {objectCountText(shown.objectCounts)}
              </p>
            }
          >
            <Loaded resource={objects}>
              {(items) => (
                <RecordList
                  label={t('objects')}
                  items={items}
                  loadMore={objects.loadMore}
                  keyOf={({ id: objectId }) => objectId}
                  empty={t('objectsEmpty')}
                  columns={[
                    { head: t('externalId'), cell: ({ externalId }) => externalId },
                    { head: t('type'), cell: ({ objectType }) => t(OBJECT_TYPE_TEXT[objectType]) },
                    { head: t('name'), cell: ({ data }) => <OptionalText value={nameIn(data)} /> },
                    {
                      head: t('updated'),
                      cell: ({ lastUpdated }) => <OptionalText value={lastUpdated && timeOf(lastUpdated)} />,
                    },
                  ]}
                />
              )}
            </Loaded>
          </Section>
        </Page>
      )}
    </Loaded>
  )
}

type ObjectCounts = ConnectorRecord['objectCounts']

const objectTotal = ({ identity, orgUnit, relationship }: ObjectCounts): number => identity + orgUnit + relationship

/** How many objects of each type the source has. */
const objectCountText = ({ identity, orgUnit, relationship }: ObjectCounts): string =>
  [
    t('peopleCount', { count: identity }),
    t('unitCount', { count: orgUnit }),
    t('positionCount', { count: relationship }),
  ].join(', ')

function nameIn(data: object): string | undefined {
  const { displayName, title } = data as { displayName?: unknown; title?: unknown }
  const name = displayName ?? title
  return typeof name === 'string' ? name : undefined
}
