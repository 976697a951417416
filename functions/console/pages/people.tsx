import { CardList } from '../components/card-list.tsx'
import { Badge, SearchField, useAddress } from '../components/fields.tsx'
import { useFound } from '../components/item-picker.tsx'
import { Empty, Loaded } from '../components/loaded.tsx'
import { Page } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { readFoundPeople } from '../object-names.ts'
import { useConsole } from '../session.ts'

/** The API returns no more. */
const FOUND_LIMIT_COUNT = 100

/** Finds people by name, number or address. */
export function PeopleView() {
  const { api } = useConsole()
  const [text, setText] = useAddress('text')
  const wanted = text.trim()
  const found = useFound(wanted, (name, signal) => readFoundPeople(api, name, signal))
  return (
    <Page title={t('people')}>
      <SearchField label={t('peopleFilter')} value={text} onInput={setText} />
      {wanted === '' ? (
        <Empty>{t('peopleStart')}</Empty>
      ) : (
        <Loaded resource={found}>
          {(people) => (
            <>
              <CardList
                label={t('people')}
                items={people}
                keyOf={({ identityId }) => identityId}
                empty={t('peopleEmpty')}
                sortParameter="sort"
                columns={[
                  {
                    head: t('name'),
                    sortBy: ({ displayName }) => displayName,
                    text: ({ identityId, displayName }) => displayName ?? identityId,
                    path: ({ identityId }) => `/people/${identityId}`,
                  },
                  { head: t('title'), text: ({ title }) => title },
                  { head: t('orgUnit'), text: ({ orgUnitName }) => orgUnitName },
                  { head: t('email'), text: ({ email }) => email },
                  {
                    head: t('account'),
                    cell: ({ hasAccount }) => (hasAccount ? t('yes') : <Badge kind="warn">{t('noAccount')}</Badge>),
                  },
                ]}
              />
              {people.length === FOUND_LIMIT_COUNT && <p class="hint">{t('maybeMore', { count: people.length })}</p>}
            </>
          )}
        </Loaded>
      )}
    </Page>
  )
}
