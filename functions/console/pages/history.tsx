import { useState } from 'preact/hooks'
import type { CollectionDto, CollectionResults } from '../../../shared/domain/collections/collection.ts'
import type { HistoryEntry } from '../../../shared/domain/insight/list-history.ts'
import type { Api, PageOf } from '../api.ts'
import { Badge } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { type MemberCount, MembersChart } from '../components/members-chart.tsx'
import { Section } from '../components/page.tsx'
import { RecordList } from '../components/record-list.tsx'
import { instantAt, shownTimeZone } from '../language/shown-time-zone.ts'
import { t, timeOf } from '../language/texts.ts'
import { namesOf, withActorNames } from '../object-names.ts'
import { useMemberCount } from '../read-counts.ts'
import { usePages, useResource } from '../resource.ts'
import { useConsole } from '../session.ts'

const ENTRIES_PER_PAGE = 200
const NAMES_SHOWN = 200

type NamedEntry = HistoryEntry & { readonly name: string; readonly actorName: string }

/** How the members of a collection have changed, why, and who they were at an earlier time. */
export function HistorySection({
  collection,
  isJoinable,
}: {
  readonly collection: CollectionDto
  readonly isJoinable: boolean
}) {
  const { api } = useConsole()
  const { id } = collection
  // In a joinable collection, an entry names the identity.
  const objectType = isJoinable ? 'Identity' : collection.objectType
  const { value: current = null } = useMemberCount(id)
  const entries = usePages(`/collections/beta/${id}/history?pageSize=${ENTRIES_PER_PAGE}`, async (path, signal) => {
    return withNames(api, objectType, await api.page<HistoryEntry>(path, signal), signal)
  })
  return (
    <>
      <Section title={t('membersOverTime')}>
        <Loaded resource={entries}>
          {(items) => (
            <>
              {current !== null && <MembersChart counts={countsOf(items, current)} now={new Date()} />}
              <HistoryTable entries={items} loadMore={entries.loadMore} />
            </>
          )}
        </Loaded>
      </Section>
      <EarlierMembers collectionId={id} objectType={objectType} />
    </>
  )
}

type HistoryTableProps = { readonly entries: readonly NamedEntry[]; readonly loadMore: (() => void) | undefined }

function HistoryTable({ entries, loadMore }: HistoryTableProps) {
  return (
    <RecordList
      label={t('membersOverTime')}
      items={entries}
      loadMore={loadMore}
      keyOf={({ membershipVersion, objectId, change, relationshipId }) =>
        `${membershipVersion} ${objectId} ${change} ${relationshipId}`
      }
      empty={t('historyEmpty')}
      columns={[
        { head: t('name'), cell: ({ name }) => name },
        { head: t('time'), cell: ({ at }) => timeOf(at) },
        {
          head: t('change'),
          cell: ({ change }) => <Badge kind={change === 'Added' ? 'good' : 'bad'}>{t(`change${change}`)}</Badge>,
        },
        { head: t('cause'), cell: ({ cause }) => t(`cause${cause}`) },
        { head: t('actor'), cell: ({ actorName }) => actorName },
      ]}
    />
  )
}

/** The number of members before and after each change, oldest first: counted back from now. */
function countsOf(newestFirst: readonly HistoryEntry[], current: number): MemberCount[] {
  const counts: MemberCount[] = []
  let count = current
  for (const { at, change } of newestFirst) {
    if (counts.at(-1)?.at !== at) counts.push({ at, count })
    count += change === 'Added' ? -1 : 1
  }
  const oldest = counts.at(-1)
  if (oldest !== undefined) counts.push({ at: oldest.at, count })
  return counts.reverse()
}

async function withNames(
  api: Api,
  objectType: string,
  page: PageOf<HistoryEntry>,
  signal: AbortSignal | undefined,
): Promise<PageOf<NamedEntry>> {
  const objectIds = page.items.map(({ objectId }) => objectId)
  const [names, { items, nextCursor }] = await Promise.all([
    namesOf(api, objectType, objectIds, signal),
    withActorNames(api, page, signal),
  ])
  return { items: items.map((entry) => ({ ...entry, name: names.get(entry.objectId) ?? entry.objectId })), nextCursor }
}

type EarlierMembersProps = { readonly collectionId: string; readonly objectType: string }
type Earlier = { readonly count: number; readonly names: readonly string[] }

/** Who was a member at a time that the person chooses. */
function EarlierMembers({ collectionId, objectType }: EarlierMembersProps) {
  const { api } = useConsole()
  const [time, setTime] = useState('')
  const instant = instantAt(time, shownTimeZone.value)
  const earlier = useResource(instant?.toISOString() ?? '', async (signal): Promise<Earlier | null> => {
    if (instant === undefined) return null
    const path = `/collections/beta/${collectionId}/results?asOf=${encodeURIComponent(instant.toISOString())}`
    const { memberIds } = await api.read<CollectionResults>(path, signal)
    const ids = memberIds.map((member) => (typeof member === 'string' ? member : member.objectId))
    const shown = ids.slice(0, NAMES_SHOWN)
    const names = await namesOf(api, objectType, shown, signal)
    return { count: ids.length, names: shown.map((id) => names.get(id) ?? id) }
  })
  return (
    <Section title={t('membersThen')}>
      <label class="field narrow">
        <span>{t('time')}</span>
        <input type="datetime-local" value={time} onInput={(event) => setTime(event.currentTarget.value)} />
      </label>
      <Loaded resource={earlier}>{(found) => found !== null && <EarlierNames {...found} />}</Loaded>
    </Section>
  )
}

function EarlierNames({ count, names }: Earlier) {
  return (
    <>
      <p role="status">{t('memberCount', { count })}</p>
      <ul class="names">
        {names.map((name) => (
          <li key={name}>{name}</li>
        ))}
      </ul>
      {count > names.length && <p class="hint">{t('firstOf', { shown: names.length, count })}</p>}
    </>
  )
}
