import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { SyncJobDto } from '../../../shared/domain/group-links/sync-job.ts'
import { Badge } from '../components/fields.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { PeopleList, PeopleNumber } from '../components/people-dialog.tsx'
import { RecordList } from '../components/record-list.tsx'
import { failedAttempts } from '../failed-attempts.ts'
import { durationOf, numberOf, t, timeOf } from '../language/texts.ts'
import { peopleOfAccounts, peopleOfJob } from '../listed-people.ts'
import { groupNameOf, useActorName } from '../object-names.ts'
import { useResource } from '../resource.ts'
import { hrefOf } from '../router.ts'
import { useConsole } from '../session.ts'

/** One sync: what it wrote, how it went, and why it failed. */
export function JobView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api } = useConsole()
  const loaded = useResource(id, async () => {
    const job = await api.read<SyncJobDto>(`/group-link/beta/sync-jobs/${id}`)
    const path = `/group-link/beta/group-links?directoryGroupId=${job.directoryGroupId}`
    const [link] = await api.all<GroupLinkDto>(path)
    return { job, link }
  })
  return (
    <Loaded resource={loaded}>
      {({ job, link }) => (
        <Page
          title={t('jobNamed', { time: timeOf(job.createdAt) })}
          back={
            link === undefined
              ? { path: '/links', text: t('links') }
              : { path: `/links/${link.id}`, text: groupNameOf(link) }
          }
          facts={<JobStatus status={job.status} />}
        >
          {job.error !== null && <JobError job={job} />}
          <Section title={t('details')}>
            <JobFacts job={job} />
          </Section>
          {job.unresolved.length > 0 && (
            <Section title={t('unresolved')}>
              <p>{t('unresolvedHint')}</p>
              <PeopleList
                label={t('unresolved')}
                count={job.unresolved.length}
                source={peopleOfAccounts(api, job.unresolved)}
              />
            </Section>
          )}
        </Page>
      )}
    </Loaded>
  )
}

function JobFacts({ job }: { readonly job: SyncJobDto }) {
  const { api } = useConsole()
  const { startedAt, completedAt, requestedBy, requestedByName, approvedBy } = job
  const nameOf = useActorName(approvedBy === null ? [] : [approvedBy])
  const facts = [
    [t('jobType'), <JobReason key="reason" job={job} />],
    [t('attempts'), numberOf(job.attempts)],
    [
      t('added'),
      <PeopleNumber key="added" count={job.added} title={t('added')} source={peopleOfJob(api, job.id, 'Added')} />,
    ],
    [
      t('removed'),
      <PeopleNumber
        key="removed"
        count={job.removed}
        title={t('removed')}
        source={peopleOfJob(api, job.id, 'Removed')}
      />,
    ],
    [t('held'), numberOf(job.held)],
    [t('skipped'), numberOf(job.skipped)],
    [t('created'), timeOf(job.createdAt)],
    [t('started'), startedAt === null ? null : timeOf(startedAt)],
    [t('completed'), completedAt === null ? null : timeOf(completedAt)],
    [t('duration'), startedAt === null || completedAt === null ? null : durationOf(startedAt, completedAt)],
    [t('requestedBy'), requestedByName ?? requestedBy],
    [t('approvedBy'), approvedBy && nameOf(approvedBy)],
  ] as const
  return (
    <dl>
      {facts.map(([head, text]) => (
        <div key={head}>
          <dt>{head}</dt>
          <dd>{text ?? <span class="faint">{t('none')}</span>}</dd>
        </div>
      ))}
    </dl>
  )
}

/** Why a sync failed. The service tries again until it gives up. */
export function JobError({ job }: { readonly job: SyncJobDto }) {
  const { status, error } = job
  const count = failedAttempts(job)
  return (
    <div class={`notice ${status === 'Failed' ? 'error' : 'warn'}`}>
      <p>{status === 'Failed' ? t('jobFailed', { count }) : t('jobRetries', { count })}</p>
      <p lang="en">{error}</p>
    </div>
  )
}

/** Why a sync ran: the change of members that caused it, where it is known. */
function JobReason({ job: { type, cause } }: { readonly job: SyncJobDto }) {
  const nameOf = useActorName(cause === null ? [] : [cause.actorId])
  if (cause === null) return <>{t(type)}</>
  return <>{t('heldCause', { cause: t(`cause${cause.kind}`), name: nameOf(cause.actorId), time: timeOf(cause.at) })}</>
}

/** In one word. */
const reasonText = ({ type, cause }: SyncJobDto): string => (cause === null ? t(type) : t(`cause${cause.kind}`))

type JobTableProps = { readonly jobs: readonly SyncJobDto[]; readonly loadMore: (() => void) | undefined }

export function JobTable({ jobs, loadMore }: JobTableProps) {
  return (
    <RecordList
      label={t('jobs')}
      items={jobs}
      loadMore={loadMore}
      keyOf={({ id }) => id}
      empty={t('jobsEmpty')}
      columns={[
        { head: t('created'), cell: ({ id, createdAt }) => <a href={hrefOf(`/jobs/${id}`)}>{timeOf(createdAt)}</a> },
        { head: t('jobType'), cell: reasonText },
        { head: t('state'), cell: ({ status }) => <JobStatus status={status} /> },
        { head: t('added'), cell: ({ added }) => numberOf(added), isNumber: true },
        { head: t('removed'), cell: ({ removed }) => numberOf(removed), isNumber: true },
        { head: t('held'), cell: ({ held }) => numberOf(held), isNumber: true },
        { head: t('skipped'), cell: ({ skipped }) => numberOf(skipped), isNumber: true },
      ]}
    />
  )
}

function JobStatus({ status }: Pick<SyncJobDto, 'status'>) {
  const kind = status === 'Succeeded' ? 'good' : status === 'Failed' ? 'bad' : 'plain'
  return <Badge kind={kind}>{t(status)}</Badge>
}
