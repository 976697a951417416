import type { MemberDto } from '../../../shared/domain/collections/list-members.ts'
import type { ExplainedGroup } from '../../../shared/domain/criteria/explain.ts'
import type { Explanation } from '../../../shared/domain/insight/explain-membership.ts'
import { groupText } from '../condition/condition-text.tsx'
import { t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import { Dialog } from './actions.tsx'
import { Badge } from './fields.tsx'
import { Loaded } from './loaded.tsx'

type ExplanationDialogProps = {
  readonly collectionId: string
  readonly member: MemberDto
  readonly onClose: () => void
}

/** Why an object is a member: the condition with its results, the request, and what is written to groups. */
export function ExplanationDialog({ collectionId, member, onClose }: ExplanationDialogProps) {
  const { api } = useConsole()
  const { objectId, displayName } = member
  const explanation = useResource(`why ${objectId}`, async () => {
    return (await api.send<Explanation>('GET', `/collections/beta/${collectionId}/explain?objectId=${objectId}`)).data
  })
  return (
    <Dialog title={t('whyMember', { name: displayName ?? objectId })} onClose={onClose}>
      <Loaded resource={explanation}>
        {({ verdict, evaluatedAt, rows, links }) => (
          <>
            <p>
              {t(`verdict${verdict}`)} {evaluatedAt !== null && t('asOf', { time: timeOf(evaluatedAt) })}
            </p>
            {rows.map(({ relationshipId, orgUnitId, holds, condition }) => (
              <div key={relationshipId ?? orgUnitId} class="condition">
                <Verdict holds={holds} />
                <ExplainedTree group={condition} />
              </div>
            ))}
            <ul>
              {links.map(({ linkId, directoryGroupId, state }) => (
                <li key={linkId}>
                  <a href={hrefOf(`/links/${linkId}`)}>{directoryGroupId}</a> <Badge kind="plain">{t(state)}</Badge>
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
      <button type="button" onClick={onClose}>
        {t('close')}
      </button>
    </Dialog>
  )
}

function Verdict({ holds }: { readonly holds: boolean }) {
  return <Badge kind={holds ? 'good' : 'bad'}>{holds ? t('holds') : t('holdsNot')}</Badge>
}

function ExplainedTree({ group: { groupOperator, holds, conditions } }: { readonly group: ExplainedGroup }) {
  return (
    <div>
      <p>
        {groupText(groupOperator)} <Verdict holds={holds} />
      </p>
      <ul>
        {conditions.map((node) => (
          <li key={JSON.stringify(node)}>
            {'groupOperator' in node ? (
              <ExplainedTree group={node} />
            ) : (
              <>
                <code>{node.field}</code> {t(node.operator)}{' '}
                {node.value !== undefined && <code>{String(node.value)}</code>}
                <Verdict holds={node.holds} /> {node.decides && <Badge kind="plain">{t('decides')}</Badge>}{' '}
                <span class="faint">{actualText(node.actual)}</span>
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

function actualText(actual: unknown): string {
  if (actual === null || actual === undefined) return t('actualMissing')
  if (actual === 'hidden') return t('actualHidden')
  return t('actual', { value: Array.isArray(actual) ? actual.join(', ') : String(actual) })
}
