import type { ComponentChildren } from 'preact'

/** Sizes in units of the picture. */
export const CHART_WIDTH = 720
export const CHART_HEIGHT = 150
/** Room for the labels beside and below the picture. */
export const CHART_LEFT = 60
export const CHART_BOTTOM = 20

type ChartProps = {
  /** What the picture shows. A table on the same view has the same data. */
  readonly label: string
  readonly height?: number
  readonly children: ComponentChildren
}

/** The frame of a picture. In a narrow window it becomes smaller as long as its texts can be read, and then scrolls. */
export function Chart({ label, height = CHART_HEIGHT, children }: ChartProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard (WCAG 2.1.1)
    <div class="picture" tabIndex={0}>
      <svg
        class="chart"
        viewBox={`0 0 ${CHART_WIDTH} ${height}`}
        width={CHART_WIDTH}
        height={height}
        role="img"
        aria-label={label}
      >
        {children}
      </svg>
    </div>
  )
}
