import type { CoreObjectDto } from '../../../shared/domain/core/core-object-dto.ts'
import { ListSection } from '../components/list-section.tsx'
import { RecordList } from '../components/record-list.tsx'
import { CORE_OBJECTS, coreNameOf, IDENTITIES, objectNames, referenceId, textOf } from '../core-objects.ts'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'

/** People without a directory account, whom no sync can add to a group. */
export function WithoutAccountSection() {
  const { api } = useConsole()
  const people = useResource('without-account', () => api.all<CoreObjectDto>(`${IDENTITIES}?account=missing`))
  return (
    <ListSection
      list={RecordList}
      title={t('peopleWithoutAccount')}
      hint={t('peopleWithoutAccountHint')}
      actions={<Total resource={people.value} />}
      resource={people}
      keyOf={({ id }) => id}
      empty={t('peopleWithoutAccountEmpty')}
      columns={[
        { head: t('name'), text: coreNameOf, path: ({ id }) => `/people/${id}` },
        { head: t('email'), text: ({ email }) => textOf(email) },
        { head: t('externalId'), text: ({ externalId }) => externalId },
      ]}
    />
  )
}

function Total({ resource }: { readonly resource: readonly unknown[] | undefined }) {
  return <p class="faint">{resource !== undefined && t('totalCount', { count: resource.length })}</p>
}

/** Positions that no person holds. */
export function VacanciesSection() {
  const { api } = useConsole()
  const positions = useResource('vacancies', async () => {
    const all = await api.all<CoreObjectDto>(`${CORE_OBJECTS}/relationships?identity=missing`)
    const units = await objectNames(
      'orgunits',
      all.flatMap(({ orgUnit }) => referenceId(orgUnit) ?? []),
      api,
    )
    return all.map((position) => ({ position, unit: units.get(referenceId(position.orgUnit) ?? '') }))
  })
  return (
    <ListSection
      list={RecordList}
      title={t('positionsWithoutPerson')}
      actions={<Total resource={positions.value} />}
      resource={positions}
      keyOf={({ position }) => position.id}
      empty={t('positionsWithoutPersonEmpty')}
      columns={[
        { head: t('title'), text: ({ position }) => textOf(position.title) },
        { head: t('orgUnit'), text: ({ unit }) => unit },
        { head: t('externalId'), cell: ({ position }) => position.externalId },
      ]}
    />
  )
}
