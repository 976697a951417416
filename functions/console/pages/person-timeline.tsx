import type { ConnectorRecord } from '../../../shared/domain/connectors/connector-health.ts'
import type { IdentityChange } from '../../../shared/domain/connectors/identity-change.ts'
import type { ObjectHistoryEntry } from '../../../shared/domain/insight/list-history.ts'
import type { Api, PageOf } from '../api.ts'
import { CardList } from '../components/card-list.tsx'
import { Badge } from '../components/fields.tsx'
import { ListSection } from '../components/list-section.tsx'
import { IDENTITIES } from '../core-objects.ts'
import { t, timeOf } from '../language/texts.ts'
import { newestEntries } from '../newest-entries.ts'
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
      isCoreAdministrator(me) ? [await dataChanges(id, api, signal)] : [],
    ])
    return newestEntries([...memberships, ...data])
  })
  return (
    <ListSection
      list={CardList}
      title={t('timeline')}
      resource={{ ...timeline, value: timeline.value?.entries }}
      keyOf={({ at, change, name, cause }) => `${at} ${change} ${name} ${cause}`}
      empty={t('timelineEmpty')}
      columns={[
        { head: t('time'), cell: ({ at }) => timeOf(at) },
        { head: t('change'), cell: ({ change, kind }) => <Badge kind={kind}>{change}</Badge> },
        { head: t('collectionOrSource'), text: ({ name }) => name, path: ({ path }) => path },
        { head: t('cause'), text: ({ cause }) => cause },
      ]}
    >
      {timeline.value?.areAll === false && <p class="hint">{t('olderHidden')}</p>}
    </ListSection>
  )
}

async function membershipChanges(
  objectIds: readonly string[],
  api: Api,
  signal: AbortSignal,
): Promise<readonly PageOf<Happening>[]> {
  const [names, ...pages] = await Promise.all([
    collectionNames(api),
    ...objectIds.map((objectId) => {
      const path = `/collections/beta/history?objectId=${objectId}&pageSize=${SHOWN_COUNT}`
      return api.page<ObjectHistoryEntry>(path, signal)
    }),
  ])
  const actorIds = pages.flatMap(({ items }) => items.map(({ actorId }) => actorId))
  const actors = await actorNames(api, actorIds, signal)
  const happening = ({ at, change, collectionId, cause, actorId }: ObjectHistoryEntry): Happening => ({
    at,
    change: t(`change${change}`),
    kind: change === 'Added' ? 'good' : 'bad',
    path: `/collections/${collectionId}`,
    name: names.get(collectionId) ?? collectionId,
    cause:
      actorId === 'system'
        ? t(`cause${cause}`)
        : `${t(`cause${cause}`)} ${t('byName', { name: actorName(actorId, actors) })}`,
  })
  return pages.map(({ items, nextCursor }) => ({ items: items.map(happening), nextCursor }))
}

async function dataChanges(id: string, api: Api, signal: AbortSignal): Promise<PageOf<Happening>> {
  const [changes, connectors] = await Promise.all([
    api.page<IdentityChange>(`${IDENTITIES}/${id}/audit?pageSize=${SHOWN_COUNT}`, signal),
    api.all<ConnectorRecord>('/iamcore/beta/sync/connectors'),
  ])
  const names = new Map(connectors.map((connector) => [connector.id, connector.name]))
  const items = changes.items.map(({ at, action, connectorId }) => ({
    at,
    change: t(`identity${action}`),
    kind: 'plain' as const,
    path: connectorId === null ? undefined : `/connectors/${connectorId}`,
    name: connectorId === null ? t('unknown') : (names.get(connectorId) ?? connectorId),
    cause: t('dataOfSource'),
  }))
  return { items, nextCursor: changes.nextCursor }
}
