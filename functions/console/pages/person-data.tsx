import { useState } from 'preact/hooks'
import type { IdentitySource } from '../../../shared/domain/connectors/read-sources.ts'
import type { CoreObjectDto } from '../../../shared/domain/core/core-object-dto.ts'
import { CardList } from '../components/card-list.tsx'
import { Badge, OptionalText } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { coreAttributeText } from '../condition/attribute-text.ts'
import { IDENTITIES, type Position, referenceId, textOf } from '../core-objects.ts'
import { compareByLocale, dayText, t } from '../language/texts.ts'
import { mainPositionText } from '../main-position.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'

export function PositionsSection({ positions }: { readonly positions: readonly Position[] }) {
  return (
    <Section title={t('positions')}>
      <CardList
        label={t('positions')}
        items={positions}
        keyOf={(row) => row.id}
        empty={t('positionsEmpty')}
        columns={[
          { head: t('title'), text: ({ title }) => title },
          { head: t('orgUnit'), text: ({ unit }) => unit },
          {
            head: t('fromDay'),
            sortBy: ({ from }) => from,
            cell: ({ from }) => <OptionalText value={from && dayText(from)} />,
          },
          {
            head: t('untilDay'),
            sortBy: ({ until }) => until,
            cell: ({ until }) => <OptionalText value={until && dayText(until)} />,
          },
        ]}
      />
    </Section>
  )
}

type AttributeRow = {
  readonly name: string
  readonly sources: readonly { readonly name: string; readonly value: string; readonly isUsed: boolean }[]
}

type SourcesProps = { readonly core: CoreObjectDto; readonly positions: readonly Position[] }

/** What each source says of each attribute, which of them the person has, and why the sources are one person. */
export function SourcesSection({ core, positions }: SourcesProps) {
  const { api } = useConsole()
  const sources = useResource(core.id, () => api.read<IdentitySource[]>(`${IDENTITIES}/${core.id}/sources`))
  return (
    <Section title={t('attributesAndSources')}>
      <Loaded resource={sources}>
        {(all) => (
          <>
            <ul class="list">
              {all.map(({ connectorId, connectorName, externalId, joinedBy }) => (
                <li key={`${connectorId} ${externalId}`}>
                  <strong>{connectorName}</strong> {externalId}{' '}
                  {joinedBy !== null && (
                    <Badge kind="plain">{t('joinedByKey', { key: coreAttributeText(joinedBy) })}</Badge>
                  )}
                </li>
              ))}
            </ul>
            <AttributeTable rows={attributeRows(all, { core, positions })} />
          </>
        )}
      </Loaded>
    </Section>
  )
}

function AttributeTable({ rows }: { readonly rows: readonly AttributeRow[] }) {
  return (
    <CardList
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

function attributeRows(sources: readonly IdentitySource[], person: SourcesProps): AttributeRow[] {
  const names = [...new Set(sources.flatMap(({ attributes }) => Object.keys(attributes)))]
  return names
    .sort((left, right) => compareByLocale(coreAttributeText(left), coreAttributeText(right)))
    .map((name) => ({
      name,
      sources: sources.flatMap(({ connectorName, attributes, used }) => {
        if (!(name in attributes)) return []
        const isUsed = used.includes(name)
        return [{ name: connectorName, value: valueText(attributes[name], isUsed, person), isUsed }]
      }),
    }))
}

/** The only references of people are those to their main positions. */
function valueText(value: unknown, isUsed: boolean, { core, positions }: SourcesProps): string {
  if (typeof value === 'boolean') return t(value ? 'yes' : 'no')
  if (!isReference(value)) return textOf(value) ?? ''
  return mainPositionText(value.externalId, isUsed ? referenceId(core.primaryRelationship) : undefined, positions)
}

function isReference(value: unknown): value is { readonly externalId: string } {
  return typeof value === 'object' && value !== null && 'externalId' in value
}
