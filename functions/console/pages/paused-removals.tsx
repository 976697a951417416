import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import { ActionButton, ConfirmedAction } from '../components/actions.tsx'
import { Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { readPeople } from '../listed-people.ts'
import { useResource } from '../resource.ts'
import { useConsole } from '../session.ts'

type PausedSectionProps = {
  readonly link: GroupLinkDto
  readonly etag: string | undefined
  readonly onChange: (done: string) => void
}

/** The members who pause the removals, by name, and the decision to leave them out of the link. */
export function PausedSection({ link, etag, onChange }: PausedSectionProps) {
  const { api } = useConsole()
  const { id, pausedBy, acceptedWithoutAccount } = link
  const accept = async (identityIds: readonly string[], done: string) => {
    const body = { acceptedWithoutAccount: identityIds }
    await api.send('PATCH', `/group-link/beta/group-links/${id}`, { body, ifMatch: etag })
    onChange(done)
  }
  return (
    <>
      {pausedBy !== null && <PausedBy pausedBy={pausedBy} accepted={acceptedWithoutAccount} onAccept={accept} />}
      {acceptedWithoutAccount.length > 0 && <LeftOut identityIds={acceptedWithoutAccount} onAccept={accept} />}
    </>
  )
}

type Accept = (identityIds: readonly string[], done: string) => Promise<void>
type PausedByProps = {
  readonly pausedBy: NonNullable<GroupLinkDto['pausedBy']>
  readonly accepted: readonly string[]
  readonly onAccept: Accept
}

/** The most that a link can leave out. */
const MAX_ACCEPTED = 100

function PausedBy({ pausedBy: { reason, count, members }, accepted, onAccept }: PausedByProps) {
  const added = members.flatMap(({ identityId }) => (identityId === null ? [] : [identityId]))
  const next = [...new Set([...accepted, ...added])].slice(0, MAX_ACCEPTED)
  return (
    <Section
      title={t('removalsPaused')}
      actions={
        added.length > 0 && (
          <ConfirmedAction
            label={t('leaveOut')}
            question={t('leaveOutConfirm', { count: added.length })}
            kind="primary"
            run={() => onAccept(next, t('leftOutSaved', { count: added.length }))}
          />
        )
      }
    >
      <div class="notice warn">
        <p>{t(`paused${reason}`, { count })}</p>
        <p>{t('pausedHint')}</p>
      </div>
      <ul class="names">
        {members.map(({ identityId, displayName, directoryObjectId }) => (
          <li key={`${identityId} ${directoryObjectId}`}>
            {displayName ?? identityId ?? directoryObjectId ?? t('positionWithoutPerson')}
          </li>
        ))}
      </ul>
      {count > members.length && <p class="hint">{t('firstOf', { shown: members.length, count })}</p>}
    </Section>
  )
}

/** Members that the link leaves out. Each of them can count again. */
function LeftOut({ identityIds, onAccept }: { readonly identityIds: readonly string[]; readonly onAccept: Accept }) {
  const { api } = useConsole()
  const people = useResource(identityIds.join(), (signal) => readPeople(api, { identityIds }, signal))
  const names = new Map(people.value?.map(({ identityId, displayName }) => [identityId, displayName]))
  return (
    <Section title={t('leftOut')}>
      <p class="hint">{t('leftOutHint')}</p>
      <ul class="rows">
        {identityIds.map((id) => (
          <li key={id}>
            <span>{names.get(id) ?? id}</span>
            <ActionButton
              run={() =>
                onAccept(
                  identityIds.filter((other) => other !== id),
                  t('countedAgain', { name: names.get(id) ?? id }),
                )
              }
            >
              {t('countAgain')}
            </ActionButton>
          </li>
        ))}
      </ul>
    </Section>
  )
}
