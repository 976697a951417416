import type { ConnectorObjectDto } from '../../../shared/domain/connectors/connector-object.ts'
import { Badge, OptionalText } from '../components/fields.tsx'
import { List } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'

type Connector = {
  readonly id: string
  readonly name: string
  readonly clientId: string
  readonly softDeletionDays: number
  readonly enabled: boolean
  readonly createdAt: string
}

/** The sources of people, positions and org units. */
export function ConnectorsView() {
  const { api } = useConsole()
  const connectors = useResource('connectors', () => api.all<Connector>('/iamcore/beta/sync/connectors'))
  return (
    <Page title={t('connectors')}>
      <Loaded resource={connectors}>
        {(all) => (
          <List
            label={t('connectors')}
            items={all}
            keyOf={({ id }) => id}
            empty={t('connectorsEmpty')}
            columns={[
              { head: t('name'), cell: ({ id, name }) => <a href={hrefOf(`/connectors/${id}`)}>{name}</a> },
              { head: t('state'), cell: ({ enabled }) => <ConnectorState isEnabled={enabled} /> },
              { head: t('softDeletion'), cell: ({ softDeletionDays }) => softDeletionDays, isNumber: true },
              { head: t('created'), cell: ({ createdAt }) => timeOf(createdAt) },
            ]}
          />
        )}
      </Loaded>
    </Page>
  )
}

function ConnectorState({ isEnabled }: { readonly isEnabled: boolean }) {
  return <Badge kind={isEnabled ? 'good' : 'plain'}>{isEnabled ? t('active') : t('inactive')}</Badge>
}

const OBJECTS_SHOWN = 200

/** One source, and the objects that it has delivered. */
export function ConnectorView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api } = useConsole()
  const path = `/iamcore/beta/sync/connectors/${id}`
  const connector = useResource(id, async () => (await api.send<Connector>('GET', path)).data)
  const objects = useResource(`objects of ${id}`, async () => {
    return (await api.send<ConnectorObjectDto[]>('GET', `${path}/data?pageSize=${OBJECTS_SHOWN}`)).data
  })
  return (
    <Loaded resource={connector}>
      {({ name, clientId, enabled }) => (
        <Page title={name}>
          <dl>
            <dt>{t('state')}</dt>
            <dd>
              <ConnectorState isEnabled={enabled} />
            </dd>
            <dt>{t('client')}</dt>
            <dd>{clientId}</dd>
          </dl>
          <Section title={t('objects')}>
            <Loaded resource={objects}>
              {(all) => (
                <List
                  label={t('objects')}
                  items={all}
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

function typeNameOf(objectType: ConnectorObjectDto['objectType']): string {
  return t(objectType === 'identity' ? 'Identity' : objectType === 'orgUnit' ? 'OrgUnit' : 'Relationship')
}

function nameIn(data: object): string | undefined {
  const { displayName, title } = data as { displayName?: unknown; title?: unknown }
  const name = displayName ?? title
  return typeof name === 'string' ? name : undefined
}
