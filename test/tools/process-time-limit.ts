/** What all checks and tests may take together. */
const TIME_LIMIT_MS = 900_000

/**
 * Ends a test process that a test keeps alive, for example by a server that it has not closed: the run would not end.
 */
setTimeout(() => {
  process.stderr.write(
    `The test process still runs after a quarter of an hour: ${process.getActiveResourcesInfo().join(', ')}\n`,
  )
  process.exit(1)
}, TIME_LIMIT_MS).unref()
