import type { AccountConflict } from '../../../shared/domain/connectors/account-claims.ts'
import type { Duplicate } from '../../../shared/domain/connectors/duplicates.ts'
import { CardList } from '../components/card-list.tsx'
import { ListSection } from '../components/list-section.tsx'
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
    const names = await objectNames('identities', ids, api)
    return data.map((row) => ({ ...row, names }))
  })
  return (
    <ListSection
      list={CardList}
      title={t('conflicts')}
      resource={conflicts}
      keyOf={({ directoryObjectId }) => directoryObjectId}
      empty={t('conflictsEmpty')}
      columns={[
        { head: t('account'), cell: ({ directoryObjectId }) => <code>{directoryObjectId}</code> },
        { head: t('holder'), cell: ({ holderId, names }) => <PeopleLinks ids={[holderId]} names={names} /> },
        { head: t('claimants'), cell: ({ claimantIds, names }) => <PeopleLinks ids={claimantIds} names={names} /> },
      ]}
    />
  )
}

/** People whom several sources may have as different ones. */
export function DuplicatesSection() {
  const { api } = useConsole()
  const duplicates = useResource('duplicates', async () => {
    const data = await api.read<Duplicate[]>(`${CORE_OBJECTS}/duplicates`)
    const ids = data.flatMap(({ identityIds }) => identityIds)
    const names = await objectNames('identities', ids, api)
    return data.map((row) => ({ ...row, names }))
  })
  return (
    <ListSection
      list={CardList}
      title={t('duplicates')}
      hint={t('duplicatesHint')}
      resource={duplicates}
      keyOf={({ key, identityIds }) => `${key} ${identityIds.join()}`}
      empty={t('duplicatesEmpty')}
      columns={[
        { head: t('people'), cell: ({ identityIds, names }) => <PeopleLinks ids={identityIds} names={names} /> },
        { head: t('sameKey'), cell: ({ key }) => <span class="capital">{coreAttributeText(key)}</span> },
        {
          head: t('value'),
          cell: ({ value }) => (value === 'hidden' ? <span class="faint">{t('valueHidden')}</span> : value),
        },
      ]}
    />
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
