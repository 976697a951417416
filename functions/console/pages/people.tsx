import { useState } from 'preact/hooks'
import type { CoreObjectDto } from '../../../shared/domain/core/core-object-dto.ts'
import { OptionalText, SearchField } from '../components/fields.tsx'
import { List } from '../components/list.tsx'
import { Empty, Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'

const IDENTITIES = '/iamcore/beta/sync/coreobjects/identities'

/** Finds people by name, number or address. */
export function PeopleView() {
  const { api } = useConsole()
  const [text, setText] = useState('')
  const wanted = text.trim()
  const found = useResource(wanted, async (signal): Promise<CoreObjectDto[]> => {
    if (wanted === '') return []
    return (
      await api.send<CoreObjectDto[]>('GET', `${IDENTITIES}/search?text=${encodeURIComponent(wanted)}`, { signal })
    ).data
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
                { head: t('externalId'), cell: ({ externalId }) => externalId },
              ]}
            />
          )}
        </Loaded>
      )}
    </Page>
  )
}

/** One person: attributes and positions. */
export function PersonView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api } = useConsole()
  const person = useResource(id, async () => (await api.send<CoreObjectDto>('GET', `${IDENTITIES}/${id}`)).data)
  const positions = useResource(`positions of ${id}`, () => api.all<CoreObjectDto>(`${IDENTITIES}/${id}/relationships`))
  return (
    <Loaded resource={person}>
      {(shown) => (
        <Page title={nameOf(shown)}>
          <Section title={t('attributes')}>
            <AttributeList of={shown} />
          </Section>
          <Section title={t('positions')}>
            <Loaded resource={positions}>
              {(all) => (
                <List
                  label={t('positions')}
                  items={all}
                  keyOf={(one) => one.id}
                  empty={t('positionsEmpty')}
                  columns={[
                    { head: t('title'), cell: ({ title }) => <OptionalText value={textOf(title)} /> },
                    { head: t('type'), cell: ({ type }) => <OptionalText value={textOf(type)} /> },
                    { head: t('externalId'), cell: ({ externalId }) => externalId },
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

function AttributeList({ of }: { readonly of: CoreObjectDto }) {
  const shown = Object.entries(of).filter(([name, value]) => name !== 'id' && value !== null && value !== undefined)
  return (
    <dl>
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{textOf(value)}</dd>
        </div>
      ))}
    </dl>
  )
}

const nameOf = ({ displayName, externalId }: CoreObjectDto): string => textOf(displayName) ?? externalId

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
