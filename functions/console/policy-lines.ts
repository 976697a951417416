import { t } from './language/texts.ts'
import type { JoinPolicyWire } from './pages/edited-policy.ts'

type Gate = JoinPolicyWire['approvalGates'][number]
type Fallback = NonNullable<Gate['fallback']>

/** The people and collections that a policy names by id. */
export function namedIn({ approvalGates, joinableBy }: Pick<JoinPolicyWire, 'approvalGates' | 'joinableBy'>) {
  const deciders = approvalGates.flatMap((gate) => [gate, gate.fallback ?? []].flat())
  const idsOf = (type: Fallback['type']) =>
    deciders.flatMap((decider) => (decider.type === type ? decider.approvers : []))
  return { identityIds: idsOf('Identity'), collectionIds: [...idsOf('Collection'), ...joinableBy.collectionIds] }
}

/** What a gate does while no decision is made: who decides as well, and whom it reminds. */
export function gateLines({ fallback, reminderDays }: Gate, nameOf: ReadonlyMap<string, string>): readonly string[] {
  const lines: string[] = []
  if (fallback !== undefined) {
    const names = fallback.approvers.map((id) => nameOf.get(id) ?? id).join(', ')
    lines.push(t(`fallback${fallback.type}`, { count: fallback.afterDays, names }))
  }
  if (reminderDays !== undefined) lines.push(t('remindsDays', { count: reminderDays }))
  return lines
}

/** When a request without a decision ends. */
export function requestLimit({ approvalRequired, requestDays }: JoinPolicyWire): string | undefined {
  return approvalRequired && requestDays !== undefined ? t('requestDays', { count: requestDays }) : undefined
}

/** What a requester has to know about the time that a decision takes. The requester cannot read all names. */
export function waitLines(policy: JoinPolicyWire): readonly string[] {
  if (!policy.approvalRequired) return []
  const fallbacks = policy.approvalGates.flatMap(({ fallback }) => fallback ?? [])
  const lines = fallbacks.map(({ afterDays, type }) =>
    t('fallbackIdentity', { count: afterDays, names: t(`decider${type}`) }),
  )
  return [...new Set(lines), requestLimit(policy) ?? []].flat()
}
