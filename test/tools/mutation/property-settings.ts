/** The processor time of this process in milliseconds. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** The share of the processor that this process has had since it began: less on a loaded machine. */
const share = Math.min(1, processorMs() / performance.now())

/**
 * Settings of fast-check for mutants: the same runs each time, and only the first ones, because properties fail early
 * for most mutants that they notice. A counterexample is enough: it need not be the smallest.
 */
export const PROPERTY_SETTINGS = { seed: 1, endOnFailure: true, interruptAfterTimeLimit: 1500 / share }
