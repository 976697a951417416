import type { ConnectorRecord } from '../../../shared/domain/connectors/connector-health.ts'
import type { ConnectorObjectDto } from '../../../shared/domain/connectors/connector-object.ts'
import { Badge, OptionalText } from '../components/fields.tsx'
import { FreshnessChart } from '../components/freshness-chart.tsx'
import { List, LongList } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { agoText, t, timeOf } from '../language/texts.ts'
import { usePages, useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'

const CONNECTORS = '/iamcore/beta/sync/connectors'

/** The sources of people, positions and org units. */
export function ConnectorsView() {
  const { api } = useConsole()
  const connectors = useResource('connectors', () => api.all<ConnectorRecord>(CONNECTORS))
  return (
    <Page title={t('connectors')}>
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
            <List
              label={t('connectors')}
              items={all}
              keyOf={({ id }) => id}
              empty={t('connectorsEmpty')}
              columns={[
                { head: t('name'), cell: ({ id, name }) => <a href={hrefOf(`/connectors/${id}`)}>{name}</a> },
                { head: t('state'), cell: ({ enabled }) => <ConnectorState isEnabled={enabled} /> },
                { head: t('lastDelivery'), cell: (connector) => <LastDelivery connector={connector} /> },
                { head: t('bindsAccounts'), cell: ({ bindsAccounts }) => (bindsAccounts ? t('yes') : t('no')) },
                { head: t('softDeletion'), cell: ({ softDeletionDays }) => softDeletionDays, isNumber: true },
                { head: t('created'), cell: ({ createdAt }) => timeOf(createdAt) },
              ]}
            />
          </>
        )}
      </Loaded>
      <ConflictsSection />
    </Page>
  )
}

type AccountConflict = {
  readonly directoryObjectId: string
  readonly holderId: string
  readonly claimantIds: readonly string[]
}

/** Accounts that several people claim: a fault in the data of a source. */
function ConflictsSection() {
  const { api } = useConsole()
  const conflicts = useResource('conflicts', async () => {
    return (await api.send<AccountConflict[]>('GET', '/iamcore/beta/sync/coreobjects/account-conflicts')).data
  })
  return (
    <Section title={t('conflicts')}>
      <Loaded resource={conflicts}>
        {(all) => (
          <LongList
            label={t('conflicts')}
            items={all}
            keyOf={({ directoryObjectId }) => directoryObjectId}
            empty={t('conflictsEmpty')}
            columns={[
              { head: t('account'), cell: ({ directoryObjectId }) => <code>{directoryObjectId}</code> },
              { head: t('holder'), cell: ({ holderId }) => <PersonLink id={holderId} /> },
              {
                head: t('claimants'),
                cell: ({ claimantIds }) => claimantIds.map((id) => <PersonLink key={id} id={id} />),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function PersonLink({ id }: { readonly id: string }) {
  return <a href={hrefOf(`/people/${id}`)}>{id}</a>
}

/** Data as stored count as well: a source that only repeats itself is alive. */
function LastDelivery({ connector: { lastDeliveredAt } }: { readonly connector: ConnectorRecord }) {
  if (lastDeliveredAt === null) return <OptionalText value={t('never')} />
  return <span title={timeOf(lastDeliveredAt)}>{agoText(lastDeliveredAt, new Date())}</span>
}

function ConnectorState({ isEnabled }: { readonly isEnabled: boolean }) {
  return <Badge kind={isEnabled ? 'good' : 'plain'}>{isEnabled ? t('active') : t('inactive')}</Badge>
}

const OBJECTS_PER_PAGE = 500

/** One source, and the objects that it has delivered. */
export function ConnectorView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api } = useConsole()
  const path = `${CONNECTORS}/${id}`
  const connector = useResource(id, async () => (await api.send<ConnectorRecord>('GET', path)).data)
  const objects = usePages(`${path}/data?pageSize=${OBJECTS_PER_PAGE}`, api.page<ConnectorObjectDto>)
  return (
    <Loaded resource={connector}>
      {(shown) => (
        <Page
          title={shown.name}
          back={{ path: '/connectors', text: t('connectors') }}
          facts={
            <>
              <ConnectorState isEnabled={shown.enabled} />
              <span>
                {t('client')}: <code>{shown.clientId}</code>
              </span>
              <span>
                {t('lastDelivery')}: <LastDelivery connector={shown} />
              </span>
            </>
          }
        >
          <Section
            title={t('objects')}
            actions={
              <p class="faint" role="status">
                {objects.value !== undefined && countText(objects.value.length, objects.isComplete)}
              </p>
            }
          >
            <Loaded resource={objects}>
              {(items) => (
                <LongList
                  label={t('objects')}
                  items={items}
                  loadMore={objects.loadMore}
                  keyOf={({ id: objectId }) => objectId}
                  empty={t('objectsEmpty')}
                  columns={[
                    { head: t('externalId'), cell: ({ externalId }) => externalId },
                    { head: t('type'), cell: ({ objectType }) => typeNameOf(objectType) },
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

const countText = (count: number, isComplete: boolean): string =>
  isComplete ? t('objectCount', { count }) : t('firstObjects', { count })

function typeNameOf(objectType: ConnectorObjectDto['objectType']): string {
  return t(objectType === 'identity' ? 'onePerson' : objectType === 'orgUnit' ? 'oneUnit' : 'position')
}

function nameIn(data: object): string | undefined {
  const { displayName, title } = data as { displayName?: unknown; title?: unknown }
  const name = displayName ?? title
  return typeof name === 'string' ? name : undefined
}
