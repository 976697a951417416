import type { Api } from '../api.ts'
import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { collectionNames, namesOf } from '../object-names.ts'
import { gateLines, namedIn, requestLimit } from '../policy-lines.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'
import type { JoinPolicyWire } from './edited-policy.ts'

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
  const limit = requestLimit(policy)
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
              {approvalGates.map((gate) => (
                <li key={gate.order}>
                  <strong>{t('gateNumber', { number: gate.order })}</strong>
                  <div>
                    {t(`gate${gate.type}`)}
                    {gate.approvers.length > 0 && `: ${gate.approvers.map((id) => nameOf.get(id) ?? id).join(', ')}`}
                  </div>
                  {gateLines(gate, nameOf).map((line) => (
                    <div key={line}>{line}</div>
                  ))}
                </li>
              ))}
            </ol>
          ) : (
            <p>{t('noApproval')}</p>
          )}
          {limit !== undefined && <p>{limit}</p>}
          {approvalRequired && rejectionNeedsReason && <p>{t('rejectionNeedsReason')}</p>}
          {maxDays !== undefined && <p>{t('lastsDays', { count: maxDays })}</p>}
        </>
      )}
    </Loaded>
  )
}

/** The names of the people and collections that a policy names by id. */
export async function readPolicyNames(
  policy: JoinPolicyWire,
  api: Api,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  const { identityIds, collectionIds } = namedIn(policy)
  const [people, collections] = await Promise.all([
    namesOf(api, 'Identity', identityIds, signal),
    collectionIds.length > 0 ? collectionNames(api) : [],
  ])
  return new Map([...people, ...collections])
}
