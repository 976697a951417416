import { useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { IdentitySource } from '../../../shared/domain/connectors/read-sources.ts'
import type { CoreObjectDto } from '../../../shared/domain/core/core-object-dto.ts'
import type { Api } from '../api.ts'
import { ExplanationDialog } from '../components/explanation.tsx'
import { Badge, OptionalText, SearchField } from '../components/fields.tsx'
import { ItemPicker, type PickedItem } from '../components/item-picker.tsx'
import { List } from '../components/list.tsx'
import { Empty, Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { coreAttributeText } from '../condition/attribute-text.ts'
import { t } from '../language/texts.ts'
import { collectionsNamed } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { isCollectionsAdministrator, useConsole } from '../session.ts'

const CORE_OBJECTS = '/iamcore/beta/sync/coreobjects'
const IDENTITIES = `${CORE_OBJECTS}/identities`

/** Finds people by name, number or address. */
export function PeopleView() {
  const { api } = useConsole()
  const [text, setText] = useState('')
  const wanted = text.trim()
  const found = useResource(wanted, async (signal): Promise<CoreObjectDto[]> => {
    if (wanted === '') return []
    const path = `${IDENTITIES}/search?text=${encodeURIComponent(wanted)}`
    return (await api.send<CoreObjectDto[]>('GET', path, { signal })).data
  })
  return (
    <Page title={t('people')}>
      <SearchField label={t('peopleFilter')} value={text} onInput={setText} />
      {wanted === '' ? (
        <Empty>{t('peopleStart')}</Empty>
      ) : (
        <Loaded resource={found}>
          {(people) => (
            <List
              label={t('people')}
              items={people}
              keyOf={({ id }) => id}
              empty={t('peopleEmpty')}
              columns={[
                { head: t('name'), cell: (one) => <a href={hrefOf(`/people/${one.id}`)}>{nameOf(one)}</a> },
                { head: t('email'), cell: ({ email }) => <OptionalText value={textOf(email)} /> },
                { head: t('externalId'), cell: ({ externalId }) => externalId },
              ]}
            />
          )}
        </Loaded>
      )}
    </Page>
  )
}

/** One person: attributes with their sources, positions, and why the person is in a collection or not. */
export function PersonView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api, me } = useConsole()
  const person = useResource(id, async () => (await api.send<CoreObjectDto>('GET', `${IDENTITIES}/${id}`)).data)
  return (
    <Loaded resource={person}>
      {(shown) => (
        <Page
          title={nameOf(shown)}
          back={{ path: '/people', text: t('people') }}
          facts={<span>{textOf(shown.email)}</span>}
        >
          <PositionsSection id={id} />
          <SourcesSection id={id} />
          {isCollectionsAdministrator(me) && <MembershipSection id={id} name={nameOf(shown)} />}
        </Page>
      )}
    </Loaded>
  )
}

type Position = { readonly id: string; readonly title: string | undefined; readonly unit: string | undefined }

function PositionsSection({ id }: { readonly id: string }) {
  const { api } = useConsole()
  const positions = useResource(id, () => listPositions(id, api))
  return (
    <Section title={t('positions')}>
      <Loaded resource={positions}>
        {(all) => (
          <List
            label={t('positions')}
            items={all}
            keyOf={(one) => one.id}
            empty={t('positionsEmpty')}
            columns={[
              { head: t('title'), cell: ({ title }) => <OptionalText value={title} /> },
              { head: t('orgUnit'), cell: ({ unit }) => <OptionalText value={unit} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

async function listPositions(identityId: string, api: Api): Promise<Position[]> {
  const all = await api.all<CoreObjectDto>(`${IDENTITIES}/${identityId}/relationships`)
  const unitIds = [...new Set(all.flatMap(({ orgUnit }) => referenceId(orgUnit) ?? []))]
  const body = { ids: unitIds }
  const units =
    unitIds.length === 0
      ? []
      : (await api.send<CoreObjectDto[]>('POST', `${CORE_OBJECTS}/orgunits/multiple`, { body })).data
  const names = new Map(units.map((unit) => [unit.id, nameOf(unit)]))
  return all.map(({ id, title, orgUnit }) => ({
    id,
    title: textOf(title),
    unit: names.get(referenceId(orgUnit) ?? ''),
  }))
}

type AttributeRow = {
  readonly name: string
  readonly sources: readonly { readonly name: string; readonly value: string; readonly isUsed: boolean }[]
}

/** What each source says of each attribute, and which of them the person has. */
function SourcesSection({ id }: { readonly id: string }) {
  const { api } = useConsole()
  const sources = useResource(id, async () => {
    return attributeRows((await api.send<IdentitySource[]>('GET', `${IDENTITIES}/${id}/sources`)).data)
  })
  return (
    <Section title={t('attributesAndSources')}>
      <Loaded resource={sources}>
        {(rows) => (
          <List
            label={t('attributesAndSources')}
            items={rows}
            keyOf={({ name }) => name}
            empty={t('sourcesEmpty')}
            columns={[
              { head: t('attribute'), cell: ({ name }) => <AttributeName name={name} /> },
              {
                head: t('value'),
                cell: (row) =>
                  row.sources.map(({ name, value, isUsed }) => (
                    <div key={name} class={isUsed ? undefined : 'faint'}>
                      {row.name === 'nin' ? <ValueOnRequest value={value} /> : value}
                    </div>
                  )),
              },
              {
                head: t('source'),
                cell: (row) =>
                  row.sources.map(({ name, isUsed }) => (
                    <div key={name}>
                      {name} {!isUsed && <Badge kind="plain">{t('notUsed')}</Badge>}
                    </div>
                  )),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

/** A national identity number is shown only to those who ask for it. */
function ValueOnRequest({ value }: { readonly value: string }) {
  const [isShown, setShown] = useState(false)
  if (isShown) return <>{value}</>
  return (
    <button type="button" onClick={() => setShown(true)}>
      {t('showValue')}
    </button>
  )
}

function AttributeName({ name }: { readonly name: string }) {
  return (
    <span class="capital" title={name}>
      {coreAttributeText(name)}
    </span>
  )
}

function attributeRows(sources: readonly IdentitySource[]): AttributeRow[] {
  const names = [...new Set(sources.flatMap(({ attributes }) => Object.keys(attributes)))]
  return names.sort().map((name) => ({
    name,
    sources: sources.flatMap(({ connectorName, attributes, used }) =>
      name in attributes
        ? [{ name: connectorName, value: textOf(attributes[name]) ?? '', isUsed: used.includes(name) }]
        : [],
    ),
  }))
}

function MembershipSection({ id, name }: { readonly id: string; readonly name: string }) {
  const { api } = useConsole()
  const [chosen, setChosen] = useState<PickedItem | undefined>(undefined)
  const collections = useResource('collections', () => api.all<CollectionDto>('/collections/beta'))
  return (
    <Section title={t('whyInCollection')}>
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

const nameOf = ({ displayName, externalId }: CoreObjectDto): string => textOf(displayName) ?? externalId

function referenceId(value: unknown): string | undefined {
  const { objectId } = (value ?? {}) as { readonly objectId?: unknown }
  return typeof objectId === 'string' ? objectId : undefined
}

/** References are shown by the id that they name. */
function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  const { objectId, externalId } = value as { readonly objectId?: unknown; readonly externalId?: unknown }
  return String(objectId ?? externalId ?? JSON.stringify(value))
}
