import { agoText, t } from '../language/texts.ts'
import { CHART_WIDTH, Chart } from './chart.tsx'

/** Something that delivers data. `at`: when it last did; null if it never did. */
export type Delivery = { readonly id: string; readonly name: string; readonly at: string | null }

const ROW_HEIGHT = 30
const AXIS_HEIGHT = 24
/** Where the ages begin, beside the names, and end. */
const [LEFT, RIGHT] = [190, CHART_WIDTH - 50]
const NAME_LENGTH = 26

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** Ages with a line. Each is at the same distance from the next: minutes matter as much as months. */
const AGES_MS = [MINUTE_MS, 60 * MINUTE_MS, DAY_MS, 7 * DAY_MS, 30 * DAY_MS, 365 * DAY_MS]

/** How long ago each source last sent data: now at the left, older ones to the right. The table has the times. */
export function FreshnessChart({ deliveries, now }: { readonly deliveries: readonly Delivery[]; readonly now: Date }) {
  const base = deliveries.length * ROW_HEIGHT
  return (
    <Chart label={t('freshnessChart')} height={base + AXIS_HEIGHT}>
      {AGES_MS.map((ageMs) => (
        <g key={ageMs}>
          <line x1={offsetOf(ageMs)} x2={offsetOf(ageMs)} y1={0} y2={base} />
          <text x={offsetOf(ageMs)} y={base + AXIS_HEIGHT - 8} text-anchor="middle">
            {agoText(new Date(now.getTime() - ageMs).toISOString(), now)}
          </text>
        </g>
      ))}
      {deliveries.map(({ id, name, at }, index) => (
        <g key={id}>
          <title>{`${name}: ${at === null ? t('never') : agoText(at, now)}`}</title>
          <text x={0} y={index * ROW_HEIGHT + ROW_HEIGHT / 2 + 4}>
            {name.length > NAME_LENGTH ? `${name.slice(0, NAME_LENGTH - 1)}…` : name}
          </text>
          {at !== null && (
            <circle
              class="delivery"
              cx={offsetOf(now.getTime() - Date.parse(at))}
              cy={index * ROW_HEIGHT + ROW_HEIGHT / 2}
              r={6}
            />
          )}
        </g>
      ))}
    </Chart>
  )
}

/** The place of an age on the axis, which ends with the first and the last age. */
function offsetOf(ageMs: number): number {
  const place = AGES_MS.findIndex((limitMs) => ageMs < limitMs)
  if (place === 0) return LEFT
  if (place === -1) return RIGHT
  const [from = 1, to = 1] = AGES_MS.slice(place - 1, place + 1)
  const share = Math.log(ageMs / from) / Math.log(to / from)
  return LEFT + ((place - 1 + share) / (AGES_MS.length - 1)) * (RIGHT - LEFT)
}
