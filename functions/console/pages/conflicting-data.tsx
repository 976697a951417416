import type { AccountConflict } from '../../../shared/domain/connectors/account-claims.ts'
import type { Duplicate } from '../../../shared/domain/connectors/duplicates.ts'
import { CardList } from '../components/card-list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { coreAttributeText } from '../condition/attribute-text.ts'
import { CORE_OBJECTS, objectNames } from '../core-objects.ts'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'

type Names = ReadonlyMap<string, string>

/** Accounts that several people claim: a fault in the data of a source. */
export function ConflictsSection() {
  const { api } = useConsole()
  const conflicts = useResource('conflicts', async () => {
    const data = await api.read<AccountConflict[]>(`${CORE_OBJECTS}/account-conflicts`)
    const ids = data.flatMap(({ holderId, claimantIds }) => [holderId, ...claimantIds])
    return { all: data, names: await objectNames('identities', ids, api) }
  })
  return (
    <Section title={t('conflicts')}>
      <Loaded resource={conflicts}>
        {({ all, names }) => (
          <CardList
            label={t('conflicts')}
            items={all}
            keyOf={({ directoryObjectId }) => directoryObjectId}
            empty={t('conflictsEmpty')}
            columns={[
              { head: t('account'), cell: ({ directoryObjectId }) => <code>{directoryObjectId}</code> },
              { head: t('holder'), cell: ({ holderId }) => <PeopleLinks ids={[holderId]} names={names} /> },
              { head: t('claimants'), cell: ({ claimantIds }) => <PeopleLinks ids={claimantIds} names={names} /> },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

/** People whom several sources may have as different ones. */
export function DuplicatesSection() {
  const { api } = useConsole()
  const duplicates = useResource('duplicates', async () => {
    const data = await api.read<Duplicate[]>(`${CORE_OBJECTS}/duplicates`)
    const ids = data.flatMap(({ identityIds }) => identityIds)
    return { all: data, names: await objectNames('identities', ids, api) }
  })
  return (
    <Section title={t('duplicates')}>
      <p class="hint">{t('duplicatesHint')}</p>
      <Loaded resource={duplicates}>
        {({ all, names }) => (
          <CardList
            label={t('duplicates')}
            items={all}
            keyOf={({ key, identityIds }) => `${key} ${identityIds.join()}`}
            empty={t('duplicatesEmpty')}
            columns={[
              { head: t('people'), cell: ({ identityIds }) => <PeopleLinks ids={identityIds} names={names} /> },
              { head: t('sameKey'), cell: ({ key }) => <span class="capital">{coreAttributeText(key)}</span> },
              {
                head: t('value'),
                cell: ({ value }) => (value === 'hidden' ? <span class="faint">{t('valueHidden')}</span> : value),
              },
            ]}
          />
        )}
      </Loaded>
    </Section>
  )
}

function PeopleLinks({ ids, names }: { readonly ids: readonly string[]; readonly names: Names }) {
  return (
    <>
      {ids.map((id) => (
        <div key={id}>
          <a href={hrefOf(`/people/${id}`)}>{names.get(id) ?? id}</a>
        </div>
      ))}
    </>
  )
}
