import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import type { JoinPolicyWire } from './edited-policy.ts'
import { readPolicyNames } from './join-policy.ts'

type PolicyProps = { readonly policy: JoinPolicyWire }

export function PolicySection(props: PolicyProps) {
  return (
    <Section title={t('policy')}>
      <PolicyText {...props} />
    </Section>
  )
}

/** Who can ask to join, and who decides, in words. */
export function PolicyText({ policy }: PolicyProps) {
  const { api } = useConsole()
  const names = useResource(JSON.stringify(policy), (signal) => readPolicyNames(policy, api, signal))
  const { approvalRequired, approvalGates, joinableBy, maxDays, rejectionNeedsReason } = policy
  return (
    <Loaded resource={names}>
      {(nameOf) => (
        <>
          {joinableBy.collectionIds.length === 0 ? (
            <p>{t('everybodyCanJoin')}</p>
          ) : (
            <p>
              {t('membersCanJoin', { names: joinableBy.collectionIds.map((id) => nameOf.get(id) ?? id).join(', ') })}
            </p>
          )}
          {approvalRequired ? (
            <ol class="steps">
              {approvalGates.map(({ order, type, approvers }) => (
                <li key={order}>
                  <strong>{t('gateNumber', { number: order })}</strong>
                  <div>
                    {t(`gate${type}`)}
                    {approvers.length > 0 && `: ${approvers.map((id) => nameOf.get(id) ?? id).join(', ')}`}
                  </div>
                </li>
              ))}
            </ol>
          ) : (
            <p>{t('noApproval')}</p>
          )}
          {approvalRequired && rejectionNeedsReason && <p>{t('rejectionNeedsReason')}</p>}
          {maxDays !== undefined && <p>{t('lastsDays', { count: maxDays })}</p>}
        </>
      )}
    </Loaded>
  )
}
