import type { SyncJobDto } from '../../../shared/domain/group-links/sync-job.ts'
import { dayText, numberOf, t, timeOf } from '../language/texts.ts'
import { CHART_BOTTOM, CHART_HEIGHT, CHART_LEFT, CHART_WIDTH, Chart } from './chart.tsx'

const MIDDLE = (CHART_HEIGHT - CHART_BOTTOM) / 2
const WIDEST_BAR = 28

/** Accounts added, removed and held by each sync, oldest first. The table beside it has the same figures. */
export function JobsChart({ jobs }: { readonly jobs: readonly SyncJobDto[] }) {
  const ordered = jobs.toReversed()
  const largest = Math.max(1, ...ordered.flatMap(({ added, removed, held }) => [added, removed + held]))
  const scale = (count: number): number => (count === 0 ? 0 : Math.max(2, (count / largest) * (MIDDLE - 6)))
  const step = (CHART_WIDTH - CHART_LEFT) / Math.max(ordered.length, 12)
  const barWidth = Math.min(WIDEST_BAR, step * 0.7)
  const [oldest, newest] = [ordered[0], ordered.at(-1)]
  return (
    <figure>
      <Chart label={t('jobsChart')}>
        <text x={CHART_LEFT - 8} y={14} text-anchor="end">{`+${numberOf(largest)}`}</text>
        <text x={CHART_LEFT - 8} y={CHART_HEIGHT - CHART_BOTTOM - 4} text-anchor="end">{`−${numberOf(largest)}`}</text>
        {ordered.map((job, index) => (
          <JobBar key={job.id} job={job} x={CHART_LEFT + index * step} width={barWidth} scale={scale} />
        ))}
        <line x1={CHART_LEFT} x2={CHART_WIDTH} y1={MIDDLE} y2={MIDDLE} />
        {oldest !== undefined && (
          <text x={CHART_LEFT} y={CHART_HEIGHT - 4}>
            {dayText(oldest.createdAt)}
          </text>
        )}
        {oldest !== undefined && newest !== undefined && hasRoom(oldest, newest, (ordered.length - 1) * step) && (
          <text x={CHART_LEFT + (ordered.length - 1) * step + barWidth} y={CHART_HEIGHT - 4} text-anchor="end">
            {dayText(newest.createdAt)}
          </text>
        )}
      </Chart>
      <figcaption class="legend">
        <span class="added">{t('added')}</span>
        <span class="removed">{t('removed')}</span>
        <span class="held">{t('held')}</span>
        <span class="failed">{t('Failed')}</span>
      </figcaption>
    </figure>
  )
}

/** The width of two dates beside each other. */
const TWO_LABELS_WIDTH = 170

/** Whether the labels of the first and the last bar differ and do not overlap. */
function hasRoom(oldest: SyncJobDto, newest: SyncJobDto, distance: number): boolean {
  return distance >= TWO_LABELS_WIDTH && dayText(oldest.createdAt) !== dayText(newest.createdAt)
}

type JobBarProps = {
  readonly job: SyncJobDto
  readonly x: number
  readonly width: number
  readonly scale: (count: number) => number
}

function JobBar({ job: { added, removed, held, status, createdAt }, x, width, scale }: JobBarProps) {
  const [up, down, kept] = [scale(added), scale(removed), scale(held)]
  return (
    <g>
      <title>{`${timeOf(createdAt)}: +${numberOf(added)} −${numberOf(removed)}`}</title>
      <rect class="added" x={x} y={MIDDLE - up} width={width} height={up} />
      <rect class="removed" x={x} y={MIDDLE} width={width} height={down} />
      <rect class="held" x={x} y={MIDDLE + down} width={width} height={kept} />
      {status === 'Failed' && <circle class="failed" cx={x + width / 2} cy={MIDDLE} r={5} />}
    </g>
  )
}
