import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { ChangePlan, PlanWarning } from '../../../shared/domain/insight/change-plan.ts'
import type { Api } from '../api.ts'
import { ActionButton, Dialog } from '../components/actions.tsx'
import { Badge } from '../components/fields.tsx'
import { List } from '../components/list.tsx'
import { numberOf, t } from '../language/texts.ts'
import type { NamesById } from './condition-text.tsx'

/** What saving would do, and the names of the groups in it. */
export type NamedPlan = { readonly plan: ChangePlan; readonly groupNames: NamesById }

/** Asks what saving would do. @param path of the collection, or of all for a new one. */
export async function readPlan(path: string, body: object, api: Api): Promise<NamedPlan> {
  const { data: plan } = await api.send<ChangePlan>('POST', `${path}/plan`, { body })
  const links = plan.links.length === 0 ? [] : await api.all<GroupLinkDto>('/group-link/beta/group-links')
  const names = links.flatMap(({ directoryGroupId, directoryGroupDisplayName }) =>
    directoryGroupDisplayName === null ? [] : [[directoryGroupId, directoryGroupDisplayName] as const],
  )
  return { plan, groupNames: new Map(names) }
}

type PlanDialogProps = NamedPlan & {
  readonly collectionNames: NamesById
  /** Whether the effect has changed since the person has seen a plan. */
  readonly isChanged: boolean
  readonly onSave: () => Promise<void>
  readonly onClose: () => void
}

/** What saving would do to collections, groups and requests, before it is done. */
export function PlanDialog({ plan, groupNames, collectionNames, isChanged, onSave, onClose }: PlanDialogProps) {
  const { warnings, collections, links, requests } = plan
  const isQuiet = links.length === 0 && collections.every(({ added, removed }) => added + removed === 0)
  return (
    <Dialog title={t('planTitle')} onClose={onClose}>
      {isChanged && (
        <div class="notice warn" role="alert">
          <p>{t('planChanged')}</p>
        </div>
      )}
      {warnings.length > 0 && <Warnings warnings={warnings} collectionNames={collectionNames} />}
      {isQuiet ? <p>{t('planNothing')}</p> : <PlannedCollections plan={plan} />}
      {links.length > 0 && (
        <List
          label={t('links')}
          items={links}
          keyOf={({ linkId }) => linkId}
          empty=""
          columns={[
            { head: t('group'), cell: (link) => groupNames.get(link.directoryGroupId) ?? link.directoryGroupId },
            { head: t('accountsAdded'), cell: ({ toAdd }) => `+${numberOf(toAdd)}`, isNumber: true },
            { head: t('accountsRemoved'), cell: ({ toRemove }) => `−${numberOf(toRemove)}`, isNumber: true },
            { head: t('held'), cell: ({ wouldHold }) => wouldHold && <Badge kind="warn">{t('wouldHold')}</Badge> },
          ]}
        />
      )}
      {requests.becomeEligible + requests.loseEligibility > 0 && <p>{t('planRequests', requests)}</p>}
      <div class="actions">
        <ActionButton kind="primary" run={onSave}>
          {t('save')}
        </ActionButton>
        <button type="button" onClick={onClose}>
          {t('backToEditing')}
        </button>
      </div>
    </Dialog>
  )
}

function PlannedCollections({ plan: { collections } }: Pick<NamedPlan, 'plan'>) {
  return (
    <List
      label={t('collections')}
      items={collections}
      keyOf={({ collectionId }) => collectionId ?? ''}
      empty=""
      columns={[
        { head: t('collection'), cell: ({ name }) => name },
        { head: t('membersJoin'), cell: ({ added }) => `+${numberOf(added)}`, isNumber: true },
        { head: t('membersLeave'), cell: ({ removed }) => `−${numberOf(removed)}`, isNumber: true },
      ]}
    />
  )
}

type WarningsProps = { readonly warnings: readonly PlanWarning[]; readonly collectionNames: NamesById }

/** Warnings do not keep anybody from saving. The table of groups says which of them have held removals. */
function Warnings({ warnings, collectionNames }: WarningsProps) {
  return (
    <div class="notice warn">
      <ul>
        {warnings.filter(isFirstOfHolds).map(({ code, message, target }) => (
          <li key={`${code} ${target}`}>
            {t(`warning${code}`, { name: collectionNames.get(target) ?? target })}
            {(code === 'ValueNotInData' || code === 'RemovalsPaused') && (
              <div class="hint" lang="en">
                {message}
              </div>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

function isFirstOfHolds({ code }: PlanWarning, index: number, all: readonly PlanWarning[]): boolean {
  return code !== 'WouldHold' || all.findIndex((one) => one.code === code) === index
}
