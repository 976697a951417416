import type { WireGroup, WireLeaf } from '../../../shared/domain/criteria/condition.ts'
import type { ExplainedGroup } from '../../../shared/domain/criteria/explain.ts'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { Explanation } from '../../../shared/domain/insight/explanation.ts'
import { groupText, LeafText, type NamesById } from '../condition/condition-text.tsx'
import { readConditionNames } from '../condition/named-condition.tsx'
import { t, timeOf } from '../language/texts.ts'
import { groupNameOf } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import { Dialog } from './actions.tsx'
import { Badge } from './fields.tsx'
import { Loaded } from './loaded.tsx'
import { RequestSteps } from './request-steps.tsx'

type ExplanationDialogProps = {
  readonly collectionId: string
  /** An identity, position or org unit. */
  readonly objectId: string
  readonly name: string
  readonly onClose: () => void
}

type Explained = { readonly explanation: Explanation; readonly groupNames: NamesById; readonly names: NamesById }

/**
 * Why an object is, or is not, a member: the condition with its results, the request, and what is written to groups.
 */
export function ExplanationDialog({ collectionId, objectId, name, onClose }: ExplanationDialogProps) {
  const { api } = useConsole()
  const explained = useResource(`${collectionId} ${objectId}`, async (signal): Promise<Explained> => {
    const path = `/collections/beta/${collectionId}/explain?objectId=${objectId}`
    const [{ data: explanation }, links] = await Promise.all([
      api.send<Explanation>('GET', path, { signal }),
      api.all<GroupLinkDto>(`/group-link/beta/group-links?collectionId=${collectionId}`),
    ])
    const named = links.map((link) => [link.id, groupNameOf(link)] as const)
    const conditions = explanation.rows.map(({ condition }) => withActualValues(condition))
    const names = await readConditionNames({ groupOperator: 'AND', conditions }, api, signal)
    return { explanation, groupNames: new Map(named), names }
  })
  return (
    <Dialog title={t('whyMember', { name })} hasClose onClose={onClose}>
      <Loaded resource={explained}>{(loaded) => <ExplanationText {...loaded} />}</Loaded>
    </Dialog>
  )
}

/** The same condition with a leaf more for each actual value, whose ids have names as well. */
function withActualValues({ groupOperator, over, conditions }: ExplainedGroup): WireGroup {
  const nodes = conditions.flatMap((node): (WireGroup | WireLeaf)[] => {
    if ('groupOperator' in node) return [withActualValues(node)]
    const { id, field, operator, actual } = node
    const isText = typeof actual === 'string' || Array.isArray(actual)
    return !isText ? [node] : [node, { id, field, operator, value: actual }]
  })
  return { groupOperator, ...(over && { over }), conditions: nodes }
}

const VERDICT_KIND = { Member: 'good', JoinsSoon: 'good', NotMember: 'bad', LeavesSoon: 'bad' } as const

function ExplanationText({ explanation, groupNames, names }: Explained) {
  const { verdict, evaluatedAt, rowCount, rows, request, links } = explanation
  return (
    <>
      <p class="facts">
        <Badge kind={VERDICT_KIND[verdict]}>{t(`verdict${verdict}`)}</Badge>
        {evaluatedAt !== null && <span>{t('asOf', { time: timeOf(evaluatedAt) })}</span>}
      </p>
      {rows.map(({ identityId, relationshipId, orgUnitId, condition }, index) => (
        <section key={relationshipId ?? orgUnitId ?? identityId} class="condition">
          {rows.length > 1 && <h3>{t('positionNumber', { number: index + 1 })}</h3>}
          <ExplainedTree group={condition} names={names} />
        </section>
      ))}
      {rows.length < rowCount && <p class="hint">{t('rowsShown', { shown: rows.length, count: rowCount })}</p>}
      {request !== null && <RequestSteps request={request} />}
      {links.length > 0 && (
        <section class="condition">
          <h3>{t('inGroups')}</h3>
          <ul>
            {links.map(({ linkId, state }) => (
              <li key={linkId}>
                <a href={hrefOf(`/links/${linkId}`)}>{groupNames.get(linkId) ?? linkId}</a>{' '}
                <Badge kind={state === 'Written' ? 'good' : 'plain'}>{t(state)}</Badge>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  )
}

function Verdict({ holds }: { readonly holds: boolean }) {
  return <Badge kind={holds ? 'good' : 'bad'}>{holds ? t('holds') : t('holdsNot')}</Badge>
}

type ExplainedTreeProps = { readonly group: ExplainedGroup; readonly names: NamesById }

function ExplainedTree({ group: { groupOperator, over, holds, conditions }, names }: ExplainedTreeProps) {
  return (
    <div class="condition">
      <p>
        <span class="faint">{groupText(groupOperator, over)}</span> <Verdict holds={holds} />
      </p>
      <ul>
        {conditions.map((node) => (
          <li key={JSON.stringify(node)}>
            {'groupOperator' in node ? (
              <ExplainedTree group={node} names={names} />
            ) : (
              <>
                <LeafText leaf={node} names={names} /> <Verdict holds={node.holds} />{' '}
                {node.decides && <Badge kind="warn">{t('decides')}</Badge>}
                <div class="hint">{actualText(node.actual, names)}</div>
              </>
            )}
          </li>
        ))}
      </ul>
    </div>
  )
}

function actualText(actual: unknown, names: NamesById): string {
  if (actual === null || actual === undefined) return t('actualMissing')
  if (actual === 'hidden') return t('actualHidden')
  const values = [actual].flat().map(String)
  return t('actual', { value: values.map((value) => names.get(value.toLowerCase()) ?? value).join(', ') })
}
