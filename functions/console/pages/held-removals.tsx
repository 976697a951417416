import { useEffect } from 'preact/hooks'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { SyncJobDto } from '../../../shared/domain/group-links/sync-job.ts'
import { ConfirmedAction, Done } from '../components/actions.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Section } from '../components/page.tsx'
import { PeopleList, PeopleNumber } from '../components/people-dialog.tsx'
import { numberOf, t, timeOf } from '../language/texts.ts'
import { peopleOfJob, peopleOfRemovals } from '../listed-people.ts'
import { useActorName } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'
import { CausingChange } from './causing-change.tsx'

type Held = NonNullable<GroupLinkDto['heldRemovals']>

type HeldRemovalsSectionProps = {
  readonly linkId: string
  readonly held: Held
  readonly onRejected: () => void
  readonly onApproved: (jobId: string) => void
}

/** The removals that the guard holds, with names and cause. A decision is for the plan that is shown. */
export function HeldRemovalsSection({ linkId, held, onRejected, onApproved }: HeldRemovalsSectionProps) {
  const { api } = useConsole()
  const { planId, count, limit, groupSize, reason } = held
  const path = `/group-link/beta/group-links/${linkId}/removal-plan`
  return (
    <Section
      title={t('heldRemovals')}
      actions={
        <>
          {held.rejectedAt === null && (
            <ConfirmedAction
              label={t('rejectRemovals')}
              question={t('rejectRemovalsConfirm')}
              kind="primary"
              run={async () => {
                await api.send('POST', `${path}/${planId}/reject`, { body: {} })
                onRejected()
              }}
            />
          )}
          <ConfirmedAction
            label={t('approveRemovals')}
            question={t('approveRemovalsConfirm', { count })}
            run={async () => {
              const { data } = await api.send<{ jobId: string }>('POST', `${path}/${planId}/approve`, { body: {} })
              onApproved(data.jobId)
            }}
          />
        </>
      }
    >
      <div class="notice warn">
        <p>{t(`held${reason}`, { count, limit, groupSize })}</p>
        <HeldFacts held={held} />
      </div>
      <PeopleList key={planId} label={t('heldRemovals')} count={count} source={peopleOfRemovals(api, path)} />
    </Section>
  )
}

/** What is behind the removals, and who rejected them. */
function HeldFacts({ held: { planId, cause, rejectedBy, rejectedAt } }: { readonly held: Held }) {
  const nameOf = useActorName([cause?.actorId, rejectedBy].filter((id) => typeof id === 'string'))
  return (
    <>
      {cause !== null && (
        <p title={t('heldCauseTitle')}>
          {t('heldCause', { cause: t(`cause${cause.kind}`), name: nameOf(cause.actorId), time: timeOf(cause.at) })}
        </p>
      )}
      {cause !== null && <CausingChange key={planId} cause={cause} />}
      {rejectedBy !== null && rejectedAt !== null && (
        <p>{t('heldRejected', { name: nameOf(rejectedBy), time: timeOf(rejectedAt) })}</p>
      )}
    </>
  )
}

/** Milliseconds between two looks at a job. */
const LOOKED_AT_AFTER_MS = 1_000

/** How many accounts an approved plan has removed, as soon as its sync has ended. */
export function ApprovedRemovals({ jobId }: { readonly jobId: string }) {
  const { api } = useConsole()
  const job = useResource(jobId, (signal) => api.read<SyncJobDto>(`/group-link/beta/sync-jobs/${jobId}`, signal))
  const isOpen = job.value === undefined || job.value.status === 'Queued' || job.value.status === 'Running'
  useEffect(() => {
    if (!isOpen || job.isLoading) return undefined
    const timer = setTimeout(job.reload, LOOKED_AT_AFTER_MS)
    return () => clearTimeout(timer)
  }, [isOpen, job.isLoading, job.reload])
  return (
    <div role="status">
      <Loaded resource={job}>
        {({ status, removed }) => {
          if (isOpen) return <Done>{t('removalsApproved')}</Done>
          if (status === 'Failed') return <a href={hrefOf(`/jobs/${jobId}`)}>{t('Failed')}</a>
          return (
            <p class="notice done">
              <span>
                <PeopleNumber
                  count={removed}
                  text={numberOf(removed)}
                  title={t('removed')}
                  source={peopleOfJob(api, jobId, 'Removed')}
                />{' '}
                {t('removalsDone', { count: removed })}
              </span>
            </p>
          )
        }}
      </Loaded>
    </div>
  )
}
