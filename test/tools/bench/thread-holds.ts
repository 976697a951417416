/**
 * Loaded into the process of the functions by `neighbours.bench.ts`. On `SIGUSR2`, it prints the longest time that the
 * thread has worked since the last signal without serving a timer that is due all the time. This is processor time: on
 * a busy machine, elapsed time includes the work of other processes.
 */
let longestMs = 0
let lastMs = workedMs()

function workedMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function look(): void {
  const nowMs = workedMs()
  longestMs = Math.max(longestMs, nowMs - lastMs)
  lastMs = nowMs
}

setInterval(look, 1).unref()
process.on('SIGUSR2', () => {
  look()
  process.stdout.write(`longest hold ${longestMs.toFixed(0)} ms\n`)
  longestMs = 0
})
