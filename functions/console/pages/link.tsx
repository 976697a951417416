import { useEffect, useState } from 'preact/hooks'
import type { CollectionDto } from '../../../shared/domain/collections/collection.ts'
import type { GroupLinkDto } from '../../../shared/domain/group-links/group-link.ts'
import type { SyncJobDto } from '../../../shared/domain/group-links/sync-job.ts'
import { ActionButton, ConfirmedAction, useDone } from '../components/actions.tsx'
import { JobsChart } from '../components/jobs-chart.tsx'
import { Loaded } from '../components/loaded.tsx'
import { Page, Section } from '../components/page.tsx'
import { t } from '../language/texts.ts'
import { groupNameOf } from '../object-names.ts'
import { usePages, useResource } from '../resource.ts'
import { hrefOf, navigate } from '../router.ts'
import { useConsole } from '../session.ts'
import { ApprovedRemovals, HeldRemovalsSection } from './held-removals.tsx'
import { JobError, JobTable } from './job.tsx'
import { LastSync, LinkState } from './links.tsx'
import { PausedSection } from './paused-removals.tsx'

/** While a job is queued or running, the list is loaded again after this time. */
const REFRESHED_AFTER_MS = 2_000
/** While something waits for a person, the page looks again after this time: another one may decide. */
const LOOKED_AGAIN_AFTER_MS = 5_000
/** Otherwise: a change of the members may come. */
const LOOKED_SELDOM_AFTER_MS = 15_000

const JOBS_PER_PAGE = 50

/** One link: its state, its syncs over time, and what can be done. */
export function LinkView({ parameters: { id = '' } }: { readonly parameters: { readonly id?: string } }) {
  const { api } = useConsole()
  const [approvedJobId, setApprovedJobId] = useState<string | undefined>(undefined)
  const link = useResource(id, () => api.send<GroupLinkDto>('GET', `/group-link/beta/group-links/${id}`))
  const jobs = usePages(`/group-link/beta/sync-jobs?linkId=${id}&limit=${JOBS_PER_PAGE}`, api.page<SyncJobDto>)
  const reload = () => {
    jobs.reload()
    link.reload()
  }
  const isBusy =
    link.value?.data.syncState === 'Pending' ||
    (jobs.value?.some(({ status }) => status === 'Queued' || status === 'Running') ?? false)
  const isWaiting = link.value !== undefined && (link.value.data.heldRemovals ?? link.value.data.pausedBy) !== null
  const isLoading = jobs.isLoading || link.isLoading
  useEffect(() => {
    if (isLoading) return undefined
    const quietMs = isWaiting ? LOOKED_AGAIN_AFTER_MS : LOOKED_SELDOM_AFTER_MS
    const timer = setTimeout(reload, isBusy ? REFRESHED_AFTER_MS : quietMs)
    return () => clearTimeout(timer)
  }, [isBusy, isWaiting, isLoading, jobs.reload, link.reload])
  const [notice, onChange] = useDone(reload)
  const [latest] = jobs.value ?? []
  return (
    <Loaded resource={link}>
      {({ data, etag }) => (
        <Page
          title={groupNameOf(data)}
          back={{ path: '/links', text: t('links') }}
          facts={<LinkFacts link={data} />}
          actions={<LinkActions link={data} etag={etag} onChange={onChange} />}
        >
          {notice}
          {approvedJobId !== undefined && <ApprovedRemovals jobId={approvedJobId} />}
          {latest?.status === 'Failed' && <JobError job={latest} />}
          <PausedSection link={data} etag={etag} onChange={onChange} />
          {data.heldRemovals !== null && (
            <HeldRemovalsSection
              linkId={id}
              held={data.heldRemovals}
              onRejected={() => onChange(t('removalsRejected'))}
              onApproved={(jobId) => {
                setApprovedJobId(jobId)
                onChange('')
              }}
            />
          )}
          <Section title={t('jobs')}>
            <Loaded resource={jobs}>
              {(all) => (
                <>
                  {all.length > 0 && <JobsChart jobs={all.slice(0, JOBS_PER_PAGE)} />}
                  <JobTable jobs={all} loadMore={jobs.loadMore} />
                </>
              )}
            </Loaded>
          </Section>
        </Page>
      )}
    </Loaded>
  )
}

function LinkFacts({ link }: { readonly link: GroupLinkDto }) {
  const { api } = useConsole()
  const { collectionId } = link
  const collection = useResource(collectionId, () => api.read<CollectionDto>(`/collections/beta/${collectionId}`))
  return (
    <>
      <LinkState link={link} />
      <span>
        {t('collection')}: <a href={hrefOf(`/collections/${collectionId}`)}>{collection.value?.name ?? collectionId}</a>
      </span>
      <span>
        {t('lastSync')}: <LastSync link={link} />
      </span>
    </>
  )
}

type LinkActionsProps = {
  readonly link: GroupLinkDto
  readonly etag: string | undefined
  readonly onChange: (done: string) => void
}

function LinkActions({ link: { id, collectionId, state }, etag, onChange }: LinkActionsProps) {
  const { api } = useConsole()
  const path = `/group-link/beta/group-links/${id}`
  const isEnabled = state === 'Enabled'
  return (
    <>
      {isEnabled && (
        <ActionButton
          kind="primary"
          run={async () => {
            await api.send('POST', `/group-link/beta/group-links/${collectionId}/sync`)
            onChange(t('syncQueued'))
          }}
        >
          {t('syncNow')}
        </ActionButton>
      )}
      <ActionButton
        run={async () => {
          await api.send('PATCH', path, { body: { state: isEnabled ? 'Disabled' : 'Enabled' }, ifMatch: etag })
          onChange(isEnabled ? t('disabled') : t('enabled'))
        }}
      >
        {isEnabled ? t('disable') : t('enable')}
      </ActionButton>
      <ConfirmedAction
        label={t('deleteLink')}
        question={t('deleteLinkConfirm')}
        run={async () => {
          await api.send('DELETE', path, { ifMatch: etag })
          navigate('/links', t('linkDeleted'))
        }}
      />
    </>
  )
}
