import { useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { CoreObjectDto } from '../../../shared/domain/core/core-object-dto.ts'
import type { MembershipDto } from '../../../shared/domain/insight/list-memberships.ts'
import { CardList } from '../components/card-list.tsx'
import { ExplanationDialog } from '../components/explanation.tsx'
import { Badge } from '../components/fields.tsx'
import { ItemPicker } from '../components/item-picker.tsx'
import { ListSection } from '../components/list-section.tsx'
import { Loaded } from '../components/loaded.tsx'
import { CauseText, EndText, GroupStates } from '../components/membership-cells.tsx'
import { Page, Section } from '../components/page.tsx'
import { type Position, textOf } from '../core-objects.ts'
import { t } from '../language/texts.ts'
import { actorName, actorNames, collectionsNamed, type PickedItem } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { isCollectionsAdministrator, isCoreAdministrator, isLeader, useConsole } from '../session.ts'
import { PositionsSection, SourcesSection } from './person-data.tsx'
import { MEMBERSHIPS, readPerson } from './person-record.ts'
import { TimelineSection } from './person-timeline.tsx'

/** One person: memberships and why, what has happened, positions, attributes with their sources. */
export function PersonView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api, me } = useConsole()
  const managesCollections = isCollectionsAdministrator(me)
  const person = useResource(id, (signal) => readPerson(id, me, api, signal))
  return (
    <Loaded resource={person}>
      {({ name, core, positions, positionIds }) => (
        <Page
          title={name}
          {...(isCoreAdministrator(me) || managesCollections
            ? { back: { path: '/people', text: t('people') } }
            : { back: { path: '/team', text: t('team') } })}
          facts={core !== undefined && <PersonFacts core={core} positions={positions} />}
        >
          {(managesCollections || isLeader(me)) && <MembershipsSection id={id} name={name} />}
          {managesCollections && <WhyNotSection id={id} name={name} />}
          {(managesCollections || isCoreAdministrator(me)) && <TimelineSection id={id} positionIds={positionIds} />}
          {core !== undefined && <PositionsSection positions={positions} />}
          {isCoreAdministrator(me) && core !== undefined && <SourcesSection core={core} positions={positions} />}
        </Page>
      )}
    </Loaded>
  )
}

type PersonFactsProps = { readonly core: CoreObjectDto; readonly positions: readonly Position[] }

/** What distinguishes people of one name. */
function PersonFacts({ core, positions: [first] }: PersonFactsProps) {
  return (
    <>
      {first?.title !== undefined && <span>{first.title}</span>}
      {first?.unit !== undefined && <span>{first.unit}</span>}
      {textOf(core.email) !== undefined && <span>{textOf(core.email)}</span>}
      {core.directoryObjectId === undefined && <Badge kind="warn">{t('noAccount')}</Badge>}
    </>
  )
}

type SectionProps = { readonly id: string; readonly name: string }

/** What the person has now, since when, why, by whom, until when, and in which groups. */
function MembershipsSection({ id, name }: SectionProps) {
  const { api, me } = useConsole()
  const seesAll = isCollectionsAdministrator(me)
  const [chosen, setChosen] = useState<MembershipDto | undefined>(undefined)
  const memberships = useResource(id, async (signal) => {
    const all = await api.all<MembershipDto>(`${MEMBERSHIPS}?identityId=${id}`)
    const actorIds = all.flatMap(({ actorId }) => actorId ?? [])
    const names = seesAll ? await actorNames(api, actorIds, signal) : undefined
    return all.map((membership) => ({ ...membership, actor: actorIn(membership, names) }))
  })
  return (
    <ListSection
      list={CardList}
      title={t('membershipsNow')}
      resource={memberships}
      keyOf={({ collectionId, relationshipId }) => `${collectionId} ${relationshipId}`}
      empty={t('membershipsNone')}
      columns={[
        {
          head: t('collection'),
          text: ({ collectionName }) => collectionName,
          path: ({ collectionId }) => (seesAll ? `/collections/${collectionId}` : undefined),
        },
        {
          head: t('reason'),
          sortBy: ({ since }) => since,
          cell: (row) => <CauseText membership={row} actorName={row.actor} />,
        },
        { head: t('until'), sortBy: ({ endsAt }) => endsAt, cell: (row) => <EndText {...row} /> },
        { head: t('groups'), cell: ({ links }) => <GroupStates links={links} isLinked={seesAll} /> },
        ...(seesAll
          ? [
              {
                head: t('actions'),
                cell: (row: MembershipDto) => (
                  <button type="button" onClick={() => setChosen(row)}>
                    {t('why')}
                  </button>
                ),
              },
            ]
          : []),
      ]}
    >
      {chosen !== undefined && (
        <ExplanationDialog
          collectionId={chosen.collectionId}
          objectId={id}
          name={`${name}, ${chosen.collectionName}`}
          onClose={() => setChosen(undefined)}
        />
      )}
    </ListSection>
  )
}

/** Who caused a membership; undefined for the service itself, and where it is not shown. */
function actorIn({ actorId }: MembershipDto, names: ReadonlyMap<string, string> | undefined): string | undefined {
  return names === undefined || actorId === null || actorId === 'system' ? undefined : actorName(actorId, names)
}

/** Why the person is, or is not, in a collection. */
function WhyNotSection({ id, name }: SectionProps) {
  const { api } = useConsole()
  const [chosen, setChosen] = useState<PickedItem | undefined>(undefined)
  const collections = useResource('collections', () => api.all<CollectionDto>('/collections/beta'))
  return (
    <Section title={t('whyNot')}>
      <Loaded resource={collections}>
        {(all) => (
          <ItemPicker
            label={t('collectionsFilter')}
            search={async (text) => collectionsNamed(all, text)}
            onPick={setChosen}
          />
        )}
      </Loaded>
      {chosen !== undefined && (
        <ExplanationDialog
          collectionId={chosen.id}
          objectId={id}
          name={`${name}, ${chosen.name}`}
          onClose={() => setChosen(undefined)}
        />
      )}
    </Section>
  )
}
