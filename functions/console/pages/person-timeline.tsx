import type { ConnectorRecord } from '../../../shared/domain/connectors/connector-health.ts'
import type { IdentityChange } from '../../../shared/domain/connectors/identity-change.ts'
import type { ObjectHistoryEntry } from '../../../shared/domain/insight/list-history.ts'
import type { Api } from '../api.ts'
import { CardList } from '../components/card-list.tsx'
import { Badge } from '../components/fields.tsx'
import { ListSection } from '../components/list-section.tsx'
import { IDENTITIES } from '../core-objects.ts'
import { t, timeOf } from '../language/texts.ts'
import { actorName, actorNames, collectionNames } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { isCollectionsAdministrator, isCoreAdministrator, useConsole } from '../session.ts'

/** Something that happened to a person. */
type Happening = {
  readonly at: string
  readonly change: string
  readonly kind: 'good' | 'bad' | 'plain'
  /** The path of the collection; undefined for a change of the person's data. */
  readonly path: string | undefined
  readonly name: string
  readonly cause: string
}

/** Entries of each list that are read at most. */
const SHOWN_COUNT = 100

type TimelineProps = { readonly id: string; readonly positionIds: readonly string[] }

/** What happened to the person, the newest first: memberships that began and ended, and changes of the data. */
export function TimelineSection({ id, positionIds }: TimelineProps) {
  const { api, me } = useConsole()
  const timeline = useResource(`${id} ${positionIds.join()}`, async (signal) => {
    const [memberships, data] = await Promise.all([
      isCollectionsAdministrator(me) ? membershipChanges([id, ...positionIds], api, signal) : [],
      isCoreAdministrator(me) ? dataChanges(id, api, signal) : [],
    ])
    return [...memberships, ...data].sort((left, right) => Date.parse(right.at) - Date.parse(left.at))
  })
  return (
    <ListSection
      list={CardList}
      title={t('timeline')}
      resource={timeline}
      keyOf={({ at, change, name, cause }) => `${at} ${change} ${name} ${cause}`}
      empty={t('timelineEmpty')}
      columns={[
        { head: t('time'), cell: ({ at }) => timeOf(at) },
        { head: t('change'), cell: ({ change, kind }) => <Badge kind={kind}>{change}</Badge> },
        { head: t('collectionOrSource'), text: ({ name }) => name, path: ({ path }) => path },
        { head: t('cause'), text: ({ cause }) => cause },
      ]}
    />
  )
}

async function membershipChanges(
  objectIds: readonly string[],
  api: Api,
  signal: AbortSignal,
): Promise<readonly Happening[]> {
  const [names, ...pages] = await Promise.all([
    collectionNames(api),
    ...objectIds.map((objectId) => {
      const path = `/collections/beta/history?objectId=${objectId}&pageSize=${SHOWN_COUNT}`
      return api.page<ObjectHistoryEntry>(path, signal)
    }),
  ])
  const entries = pages.flatMap(({ items }) => items)
  const actorIds = entries.map(({ actorId }) => actorId)
  const actors = await actorNames(api, actorIds, signal)
  return entries.map(({ at, change, collectionId, cause, actorId }) => ({
    at,
    change: t(`change${change}`),
    kind: change === 'Added' ? 'good' : 'bad',
    path: `/collections/${collectionId}`,
    name: names.get(collectionId) ?? collectionId,
    cause:
      actorId === 'system'
        ? t(`cause${cause}`)
        : `${t(`cause${cause}`)} ${t('byName', { name: actorName(actorId, actors) })}`,
  }))
}

async function dataChanges(id: string, api: Api, signal: AbortSignal): Promise<readonly Happening[]> {
  const [changes, connectors] = await Promise.all([
    api.page<IdentityChange>(`${IDENTITIES}/${id}/audit?pageSize=${SHOWN_COUNT}`, signal),
    api.all<ConnectorRecord>('/iamcore/beta/sync/connectors'),
  ])
  const names = new Map(connectors.map((connector) => [connector.id, connector.name]))
  return changes.items.map(({ at, action, connectorId }) => ({
    at,
    change: t(`identity${action}`),
    kind: 'plain',
    path: connectorId === null ? undefined : `/connectors/${connectorId}`,
    name: connectorId === null ? t('unknown') : (names.get(connectorId) ?? connectorId),
    cause: t('dataOfSource'),
  }))
}
