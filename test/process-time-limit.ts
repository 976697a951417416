/** Many times what the longest test file takes. */
const TIME_LIMIT_MS = 600_000

/**
 * Ends a test process that a test keeps alive, for example by a server that it has not closed: the run would not end.
 */
setTimeout(() => {
  process.stderr.write(
    `The test process still runs after ten minutes: ${process.getActiveResourcesInfo().join(', ')}\n`,
  )
  process.exit(1)
}, TIME_LIMIT_MS).unref()
