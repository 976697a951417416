import type { WireGroup } from '../../../shared/domain/criteria/condition.ts'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { ChangePlan } from '../../../shared/domain/insight/change-plan.ts'
import type { Api } from '../api.ts'
import { ActionButton, Dialog } from '../components/actions.tsx'
import { CardList } from '../components/card-list.tsx'
import { Badge } from '../components/fields.tsx'
import { PeopleNumber } from '../components/people-dialog.tsx'
import { t } from '../language/texts.ts'
import { type PeopleSource, peopleMatching, plannedPeople } from '../listed-people.ts'
import { useConsole } from '../session.ts'
import type { NamesById } from './condition-text.tsx'
import { type NamedPlan, PlanNotices } from './plan-notices.tsx'

/** Asks what saving would do. @param path of the collection, or of all for a new one. */
export async function readPlan(path: string, body: object, api: Api): Promise<NamedPlan> {
  const { data: plan } = await api.send<ChangePlan>('POST', `${path}/plan`, { body })
  const links = plan.links.length === 0 ? [] : await api.all<GroupLinkDto>('/group-link/beta/group-links')
  const names = links.flatMap(({ directoryGroupId, directoryGroupDisplayName }) =>
    directoryGroupDisplayName === null ? [] : [[directoryGroupId, directoryGroupDisplayName] as const],
  )
  return { plan, groupNames: new Map(names) }
}

/** What a plan was asked for. */
type PlannedChange = {
  /** Of the collection; undefined for a new one. */
  readonly path: string | undefined
  readonly body: { readonly objectType: string; readonly condition: WireGroup }
}

type PlanDialogProps = NamedPlan & {
  readonly change: PlannedChange
  readonly collectionNames: NamesById
  /** Whether the effect has changed since the person has seen a plan. */
  readonly isChanged: boolean
  readonly onSave: () => Promise<void>
  readonly onClose: () => void
}

/** What saving would do to collections, groups and requests, before it is done. */
export function PlanDialog(props: PlanDialogProps) {
  const { plan, groupNames, collectionNames, change, isChanged, onSave, onClose } = props
  const { warnings, collections, links, requests } = plan
  const peopleOf = usePlannedPeople(change)
  const leaving = leavingCount(plan)
  const isQuiet = links.length === 0 && collections.every(({ added, removed }) => added + removed === 0)
  return (
    <Dialog title={t('planTitle')} onClose={onClose}>
      {isChanged && (
        <div class="notice warn" role="alert">
          <p>{t('planChanged')}</p>
        </div>
      )}
      {warnings.length > 0 && (
        <PlanNotices plan={plan} condition={change.body.condition} {...{ collectionNames, groupNames }} />
      )}
      {isQuiet ? <p>{t('planNothing')}</p> : <PlannedCollections plan={plan} peopleOf={peopleOf} />}
      {links.length > 0 && (
        <CardList
          label={t('links')}
          items={links}
          keyOf={({ linkId }) => linkId}
          empty=""
          columns={[
            { head: t('group'), cell: (link) => groupNames.get(link.directoryGroupId) ?? link.directoryGroupId },
            {
              head: t('accountsAdded'),
              cell: ({ linkId, toAdd }) => (
                <PeopleNumber
                  count={toAdd}
                  sign="+"
                  title={t('accountsAdded')}
                  source={peopleOf({ linkId }, 'added')}
                />
              ),
              isNumber: true,
            },
            {
              head: t('accountsRemoved'),
              cell: ({ linkId, toRemove }) => (
                <PeopleNumber
                  count={toRemove}
                  sign="−"
                  title={t('accountsRemoved')}
                  source={peopleOf({ linkId }, 'removed')}
                />
              ),
              isNumber: true,
            },
            {
              head: t('held'),
              cell: ({ linkId, wouldHold, pausedRemovals }) => (
                <>
                  {wouldHold && <Badge kind="warn">{t('wouldHold')}</Badge>}
                  {pausedRemovals > 0 && (
                    <PeopleNumber
                      count={pausedRemovals}
                      text={t('nobodyRemoved', { count: pausedRemovals })}
                      title={t('pausedRemovals')}
                      source={peopleOf({ linkId }, 'removed')}
                    />
                  )}
                </>
              ),
            },
          ]}
        />
      )}
      {requests.becomeEligible + requests.loseEligibility > 0 && <p>{t('planRequests', requests)}</p>}
      <div class="actions">
        <ActionButton kind={leaving > 0 ? 'danger filled' : 'primary'} run={onSave}>
          {leaving > 0 ? t('saveAndRemove', { count: leaving }) : t('save')}
        </ActionButton>
        <button type="button" onClick={onClose}>
          {t('backToEditing')}
        </button>
      </div>
    </Dialog>
  )
}

type PeopleOf = (
  of: { readonly linkId: string } | { readonly collectionId: string },
  change: 'added' | 'removed',
) => PeopleSource

function usePlannedPeople({ path, body }: PlannedChange): PeopleOf {
  const { api } = useConsole()
  return (of, change) => {
    if (path !== undefined) return plannedPeople(api, path, { ...body, ...of, change })
    return peopleMatching(api, { preview: { objectType: body.objectType, condition: body.condition } }, 'preview')
  }
}

/** How many people leave this collection; without any, how many accounts leave groups. */
function leavingCount({ collections, links }: ChangePlan): number {
  const leaving = collections[0]?.removed ?? 0
  return leaving > 0 ? leaving : links.reduce((sum, { toRemove }) => sum + toRemove, 0)
}

type PlannedCollectionsProps = Pick<NamedPlan, 'plan'> & { readonly peopleOf: PeopleOf }

function PlannedCollections({ plan: { collections }, peopleOf }: PlannedCollectionsProps) {
  return (
    <CardList
      label={t('collections')}
      items={collections}
      keyOf={({ collectionId }) => collectionId ?? ''}
      empty=""
      columns={[
        { head: t('collection'), cell: ({ name }) => name },
        {
          head: t('membersJoin'),
          cell: ({ collectionId, added }) => (
            <PeopleNumber
              count={added}
              sign="+"
              title={t('membersJoin')}
              source={peopleOf({ collectionId: collectionId ?? '' }, 'added')}
            />
          ),
          isNumber: true,
        },
        {
          head: t('membersLeave'),
          cell: ({ collectionId, removed }) => (
            <PeopleNumber
              count={removed}
              sign="−"
              title={t('membersLeave')}
              source={peopleOf({ collectionId: collectionId ?? '' }, 'removed')}
            />
          ),
          isNumber: true,
        },
      ]}
    />
  )
}
