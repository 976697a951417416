import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import { ActionButton, ConfirmedAction } from '../components/actions.tsx'
import { Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { leftOutWith, MAX_LEFT_OUT_COUNT } from '../left-out.ts'
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

function PausedBy({ pausedBy: { reason, count, members }, accepted, onAccept }: PausedByProps) {
  const { identityIds, addedCount, excessCount } = leftOutWith(members, accepted)
  const limit = excessCount > 0 && t('leaveOutLimit', { limit: MAX_LEFT_OUT_COUNT, count: excessCount })
  return (
    <Section
      title={t('removalsPaused')}
      actions={
        addedCount > 0 && (
          <ConfirmedAction
            label={t('leaveOut')}
            question={[t('leaveOutConfirm', { count: addedCount }), limit].filter(Boolean).join(' ')}
            kind="primary"
            run={() => onAccept(identityIds, t('leftOutSaved', { count: addedCount }))}
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
      {limit && <p class="hint">{limit}</p>}
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
