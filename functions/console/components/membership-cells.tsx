import type { MembershipDto } from '../../../shared/domain/insight/list-memberships.ts'
import { agoText, dayText, t, timeOf } from '../language/texts.ts'
import { hrefOf } from '../router.ts'
import { Badge, OptionalText } from './fields.tsx'

type CauseTextProps = {
  readonly membership: Pick<MembershipDto, 'since' | 'cause'>
  /** Who did it; undefined when it is not shown. */
  readonly actorName?: string | undefined
}

/** Why a membership began, by whom and when. */
export function CauseText({ membership: { since, cause }, actorName }: CauseTextProps) {
  if (cause === null || since === null) return <OptionalText value={null} />
  return (
    <>
      {t(`cause${cause}`)} {actorName !== undefined && t('byName', { name: actorName })}
      <div class="hint">
        <span title={timeOf(since)}>{t('sinceAgo', { day: dayText(since), ago: agoText(since, new Date()) })}</span>
      </div>
    </>
  )
}

const SOON_MS = 14 * 24 * 60 * 60 * 1000

/** Until when a membership lasts. An end within two weeks stands out. */
export function EndText({ endsAt }: Pick<MembershipDto, 'endsAt'>) {
  if (endsAt === null) return <span class="faint">{t('noEnd')}</span>
  const isSoon = Date.parse(endsAt) - Date.now() < SOON_MS
  return isSoon ? <Badge kind="warn">{dayText(endsAt)}</Badge> : <span>{dayText(endsAt)}</span>
}

type GroupStatesProps = { readonly links: MembershipDto['links']; readonly isLinked: boolean }

/** The groups of a membership, and whether the account is in them. */
export function GroupStates({ links, isLinked }: GroupStatesProps) {
  if (links.length === 0) return <OptionalText value={null} />
  return (
    <>
      {links.map(({ linkId, displayName, directoryGroupId, state }) => {
        const name = displayName ?? directoryGroupId
        return (
          <div key={linkId}>
            {isLinked ? <a href={hrefOf(`/links/${linkId}`)}>{name}</a> : name}{' '}
            <Badge kind={state === 'Written' ? 'good' : state === 'NoAccount' ? 'bad' : 'plain'}>{t(state)}</Badge>
          </div>
        )
      })}
    </>
  )
}
