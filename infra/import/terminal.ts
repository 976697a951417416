import { createInterface } from 'node:readline'

export type Ask = (question: string) => Promise<boolean>

type MaybeTerminal = { readonly isTTY?: boolean }

/**
 * Asks yes-or-no questions on an interactive terminal. Undefined without one. Only y and yes mean yes; the end of the
 * input means no.
 */
export function askOnTerminal(
  input: NodeJS.ReadableStream & MaybeTerminal,
  output: NodeJS.WritableStream & MaybeTerminal,
): Ask | undefined {
  if (!input.isTTY || !output.isTTY) return undefined
  return async (question) => {
    const lines = createInterface({ input, output, prompt: `${question} [y/N] ` })
    const answer = new Promise<string>((resolve) => {
      lines.once('line', resolve)
      lines.once('close', () => resolve(''))
    })
    lines.prompt()
    const isYes = /^y(es)?$/i.test((await answer).trim())
    lines.close()
    return isYes
  }
}

/** The output for progress: a terminal or a log. */
export type Screen = { readonly isTTY?: boolean; readonly columns?: number; write(text: string): unknown }

export type Progress = {
  show(step: string, done: number, total: number | undefined): void
  /** Ends the step and keeps its last line visible. */
  end(): void
}

const BAR_WIDTH_COUNT = 30
/** More frequent redraws flicker. */
const REDRAW_MS = 100
/** The interval of lines in a log. */
const PLAIN_LINE_MS = 5000

/** Redraws one line on a terminal. Writes a line every five seconds otherwise. */
export function progressOn(screen: Screen, nowMs: () => number): Progress {
  const intervalMs = screen.isTTY ? REDRAW_MS : PLAIN_LINE_MS
  let [shownAtMs, startedAtMs, latest, shown] = [nowMs(), nowMs(), '', '']
  const draw = () => {
    if (latest === shown) return
    screen.write(screen.isTTY ? `\r\u001b[2K${latest.slice(0, (screen.columns ?? 80) - 1)}` : `${latest}\n`)
    shown = latest
    shownAtMs = nowMs()
  }
  return {
    show(step, done, total) {
      const elapsedS = (nowMs() - startedAtMs) / 1000
      latest =
        total === undefined ? `${step} ${done}` : `${step} ${barOf(done, total)} ${restOf(done, total, elapsedS)}`
      if (nowMs() - shownAtMs >= intervalMs) draw()
    },
    end() {
      draw()
      if (screen.isTTY && shown !== '') screen.write('\n')
      ;[latest, shown, startedAtMs] = ['', '', nowMs()]
    },
  }
}

function barOf(done: number, total: number): string {
  const filled = total === 0 ? BAR_WIDTH_COUNT : Math.floor((done / total) * BAR_WIDTH_COUNT)
  const percent = total === 0 ? 100 : Math.floor((done / total) * 100)
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR_WIDTH_COUNT - filled)}] ${percent} % ${done}/${total}`
}

function restOf(done: number, total: number, elapsedS: number): string {
  if (done === 0 || done === total || elapsedS <= 0) return ''
  return `${Math.round(done / elapsedS)}/s, ${Math.ceil(((total - done) / done) * elapsedS)} s left`
}
