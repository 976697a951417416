import { dayText, numberOf, t } from '../language/texts.ts'
import { CHART_BOTTOM, CHART_HEIGHT, CHART_LEFT, CHART_WIDTH, Chart } from './chart.tsx'

/** The number of members from a time on. */
export type MemberCount = { readonly at: string; readonly count: number }

const TOP = 8

/** The number of members over time, oldest first, up to now. The table beside it has the changes. */
export function MembersChart({ counts, now }: { readonly counts: readonly MemberCount[]; readonly now: Date }) {
  const [first] = counts
  if (first === undefined) return null
  const fromMs = Date.parse(first.at)
  const spanMs = Math.max(1, now.getTime() - fromMs)
  const largest = Math.max(1, ...counts.map(({ count }) => count))
  const x = (at: string): number => CHART_LEFT + ((Date.parse(at) - fromMs) / spanMs) * (CHART_WIDTH - CHART_LEFT)
  const y = (count: number): number =>
    CHART_HEIGHT - CHART_BOTTOM - (count / largest) * (CHART_HEIGHT - CHART_BOTTOM - TOP)
  const base = CHART_HEIGHT - CHART_BOTTOM
  // The number stays until the next change.
  const line = counts
    .map(
      ({ at, count }, index) =>
        `${index === 0 ? 'M' : 'H'}${x(at).toFixed(1)} ${index === 0 ? '' : 'V'}${y(count).toFixed(1)}`,
    )
    .join(' ')
  const end = `${line} H${CHART_WIDTH}`
  return (
    <Chart label={t('membersChart')}>
      <text x={CHART_LEFT - 8} y={TOP + 8} text-anchor="end">
        {numberOf(largest)}
      </text>
      <text x={CHART_LEFT - 8} y={base} text-anchor="end">
        0
      </text>
      <path class="area" d={`${end} V${base} H${CHART_LEFT} Z`} />
      <path class="line" d={end} />
      <line x1={CHART_LEFT} x2={CHART_WIDTH} y1={base} y2={base} />
      <text x={CHART_LEFT} y={CHART_HEIGHT - 4}>
        {dayText(first.at)}
      </text>
      <text x={CHART_WIDTH} y={CHART_HEIGHT - 4} text-anchor="end">
        {dayText(now.toISOString())}
      </text>
    </Chart>
  )
}
