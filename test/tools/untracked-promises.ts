import hooks from 'node:async_hooks'

const { createHook } = hooks

/**
 * The test runner follows every promise and every timer to tell which test an uncaught error belongs to. In tests with
 * millions of promises, this takes a sixth of the time. The runner keeps what it needs to know the suite of a test. An
 * uncaught error still fails the file, and its stack names the place.
 */
hooks.createHook = ({ init }) =>
  createHook({
    init(asyncId, type, triggerAsyncId, resource) {
      if (type === 'Test') init?.(asyncId, type, triggerAsyncId, resource)
    },
  })
