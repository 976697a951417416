import type { SyncJobDto } from '../../../shared/domain/group-links/sync-job.ts'
import { numberOf, t, timeOf } from '../language/texts.ts'

const HEIGHT = 80
const BAR_WIDTH = 10
const GAP = 4

/** Accounts added and removed by each job, oldest first. The table beside it has the same figures. */
export function JobsChart({ jobs }: { readonly jobs: readonly SyncJobDto[] }) {
  const ordered = jobs.toReversed()
  const largest = Math.max(1, ...ordered.flatMap(({ added, removed }) => [added, removed]))
  const scale = (count: number): number => (count === 0 ? 0 : Math.max(2, (count / largest) * (HEIGHT / 2)))
  const width = ordered.length * (BAR_WIDTH + GAP)
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${width} ${HEIGHT}`}
      width={width}
      height={HEIGHT}
      role="img"
      aria-label={t('jobsChart')}
    >
      {ordered.map((job, index) => {
        const x = index * (BAR_WIDTH + GAP)
        const { id, added, removed, status, createdAt } = job
        return (
          <g key={id}>
            <title>{`${timeOf(createdAt)}: +${numberOf(added)} −${numberOf(removed)}`}</title>
            <rect class="added" x={x} y={HEIGHT / 2 - scale(added)} width={BAR_WIDTH} height={scale(added)} />
            <rect class="removed" x={x} y={HEIGHT / 2} width={BAR_WIDTH} height={scale(removed)} />
            {status === 'Failed' && <circle class="failed" cx={x + BAR_WIDTH / 2} cy={HEIGHT / 2} r={4} />}
          </g>
        )
      })}
      <line x1={0} x2={width} y1={HEIGHT / 2} y2={HEIGHT / 2} />
    </svg>
  )
}
