/**
 * Starts to count the processor time of this process, in milliseconds. A limit of it does not depend on what else the
 * machine does.
 */
export function processorClock(): () => number {
  const start = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(start)
    return (user + system) / 1000
  }
}
