import hooks, { type AsyncHook, AsyncResource } from 'node:async_hooks'

/** The trigger of a resource that nothing else has triggered. */
const NO_TRIGGER_ID = 0

/**
 * The test runner follows every promise and every timer to tell which test an uncaught error belongs to. In tests with
 * millions of promises, this takes a fifth of the time. The runner needs only the resources of its tests, to know the
 * suite of a test: it is told of each before anything runs in it, and no hook is called for anything else. An uncaught
 * error still fails the file, and its stack names the place.
 */
hooks.createHook = ({ init }): AsyncHook => {
  const { runInAsyncScope } = AsyncResource.prototype
  AsyncResource.prototype.runInAsyncScope = function (this: AsyncResource, ...scope) {
    init?.(this.asyncId(), 'Test', NO_TRIGGER_ID, this)
    return runInAsyncScope.apply(this, scope as never) as never
  }
  const hook: AsyncHook = { enable: () => hook, disable: () => hook }
  return hook
}
