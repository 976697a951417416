import { dayText, numberOf, t } from '../language/texts.ts'

/** The number of members from a time on. */
export type MemberCount = { readonly at: string; readonly count: number }

const WIDTH = 720
const HEIGHT = 150
const LEFT = 44
const BOTTOM = 20
const TOP = 8

/** The number of members over time, oldest first, up to now. The table beside it has the changes. */
export function MembersChart({ counts, now }: { readonly counts: readonly MemberCount[]; readonly now: Date }) {
  const [first] = counts
  if (first === undefined) return null
  const fromMs = Date.parse(first.at)
  const spanMs = Math.max(1, now.getTime() - fromMs)
  const largest = Math.max(1, ...counts.map(({ count }) => count))
  const x = (at: string): number => LEFT + ((Date.parse(at) - fromMs) / spanMs) * (WIDTH - LEFT)
  const y = (count: number): number => HEIGHT - BOTTOM - (count / largest) * (HEIGHT - BOTTOM - TOP)
  const base = HEIGHT - BOTTOM
  // The number stays until the next change.
  const line = counts
    .map(
      ({ at, count }, index) =>
        `${index === 0 ? 'M' : 'H'}${x(at).toFixed(1)} ${index === 0 ? '' : 'V'}${y(count).toFixed(1)}`,
    )
    .join(' ')
  const end = `${line} H${WIDTH}`
  return (
    <svg
      class="chart"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={t('membersChart')}
    >
      <text x={LEFT - 8} y={TOP + 8} text-anchor="end">
        {numberOf(largest)}
      </text>
      <text x={LEFT - 8} y={base} text-anchor="end">
        0
      </text>
      <path class="area" d={`${end} V${base} H${LEFT} Z`} />
      <path class="line" d={end} />
      <line x1={LEFT} x2={WIDTH} y1={base} y2={base} />
      <text x={LEFT} y={HEIGHT - 4}>
        {dayText(first.at)}
      </text>
      <text x={WIDTH} y={HEIGHT - 4} text-anchor="end">
        {dayText(now.toISOString())}
      </text>
    </svg>
  )
}
