import { useEffect, useState } from 'preact/hooks'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { SyncJobDto } from '../../../shared/domain/group-links/sync-job.ts'
import { ActionButton, ConfirmedAction, Done } from '../components/actions.tsx'
import { Badge } from '../components/fields.tsx'
import { JobsChart } from '../components/jobs-chart.tsx'
import { List } from '../components/list.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { t, timeOf } from '../language/texts.ts'
import { useResource } from '../resource.ts'
import { hrefOf, navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import { HeldRemovalsSection } from './held-removals.tsx'
import { groupNameOf } from './links.tsx'

/** While a job is queued or running, the list is loaded again after this time. */
const REFRESHED_AFTER_MS = 2_000

const JOBS_SHOWN = 50

/** One link: its state, its syncs over time, and what can be done. */
export function LinkView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api } = useConsole()
  const link = useResource(id, () => api.send<GroupLinkDto>('GET', `/group-link/beta/group-links/${id}`))
  const jobs = useResource(`jobs of ${id}`, async () => {
    const path = `/group-link/beta/sync-jobs?linkId=${id}&limit=${JOBS_SHOWN}`
    return (await api.send<SyncJobDto[]>('GET', path)).data
  })
  const isBusy = jobs.value?.some(({ status }) => status === 'Queued' || status === 'Running') ?? false
  useEffect(() => {
    if (!isBusy || jobs.isLoading) return undefined
    const timer = setTimeout(() => {
      jobs.reload()
      link.reload()
    }, REFRESHED_AFTER_MS)
    return () => clearTimeout(timer)
  }, [isBusy, jobs.isLoading, jobs.reload, link.reload])
  return (
    <Loaded resource={link}>
      {({ data, etag }) => (
        <Page
          title={groupNameOf(data)}
          actions={<LinkActions link={data} etag={etag} onChange={link.reload} onSync={jobs.reload} />}
        >
          <p>
            <Badge kind={data.state === 'Enabled' ? 'good' : 'plain'}>{t(data.state)}</Badge>{' '}
            <a href={hrefOf(`/collections/${data.collectionId}`)}>{t('collection')}</a>
          </p>
          {data.heldRemovals !== null && (
            <HeldRemovalsSection linkId={id} held={data.heldRemovals} onApproved={jobs.reload} />
          )}
          <Section title={t('jobs')}>
            <Loaded resource={jobs}>
              {(all) => (
                <>
                  {all.length > 0 && <JobsChart jobs={all} />}
                  <JobTable jobs={all} />
                </>
              )}
            </Loaded>
          </Section>
        </Page>
      )}
    </Loaded>
  )
}

type LinkActionsProps = {
  readonly link: GroupLinkDto
  readonly etag: string | undefined
  readonly onChange: () => void
  readonly onSync: () => void
}

function LinkActions({ link: { id, collectionId, state }, etag, onChange, onSync }: LinkActionsProps) {
  const { api } = useConsole()
  const [isQueued, setQueued] = useState(false)
  const path = `/group-link/beta/group-links/${id}`
  const isEnabled = state === 'Enabled'
  return (
    <>
      {isEnabled && (
        <ActionButton
          kind="primary"
          run={async () => {
            await api.send('POST', `/group-link/beta/group-links/${collectionId}/sync`)
            setQueued(true)
            onSync()
          }}
        >
          {t('syncNow')}
        </ActionButton>
      )}
      <ActionButton
        run={async () => {
          await api.send('PATCH', path, { body: { state: isEnabled ? 'Disabled' : 'Enabled' }, ifMatch: etag })
          onChange()
        }}
      >
        {isEnabled ? t('disable') : t('enable')}
      </ActionButton>
      <ConfirmedAction
        label={t('deleteLink')}
        question={t('deleteLinkConfirm')}
        run={async () => {
          await api.send('DELETE', path, { ifMatch: etag })
          navigate('/links')
        }}
      />
      {isQueued && <Done>{t('syncQueued')}</Done>}
    </>
  )
}

function JobTable({ jobs }: { readonly jobs: readonly SyncJobDto[] }) {
  return (
    <List
      label={t('jobs')}
      items={jobs}
      keyOf={({ id }) => id}
      empty={t('jobsEmpty')}
      columns={[
        { head: t('created'), cell: ({ createdAt }) => timeOf(createdAt) },
        { head: t('jobType'), cell: ({ type }) => t(type) },
        { head: t('state'), cell: (job) => <JobStatus job={job} /> },
        { head: t('added'), cell: ({ added }) => added, isNumber: true },
        { head: t('removed'), cell: ({ removed }) => removed, isNumber: true },
        { head: t('skipped'), cell: ({ skipped }) => skipped, isNumber: true },
      ]}
    />
  )
}

function JobStatus({ job: { status, error } }: { readonly job: SyncJobDto }) {
  const kind = status === 'Succeeded' ? 'good' : status === 'Failed' ? 'bad' : 'plain'
  return (
    <>
      <Badge kind={kind}>{t(status)}</Badge> {error}
    </>
  )
}
