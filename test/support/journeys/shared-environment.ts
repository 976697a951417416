import { after } from 'node:test'
import { newDataFolder, type StartedEnvironment, startedEnvironment } from './started-environment.ts'

let started: Promise<StartedEnvironment> | undefined

/**
 * The environment that all test files of a process share, without generated people: a start takes as long as the tests
 * of most files. `npm test` runs these files in one process. Their tests leave the demo people and their roles as they
 * are, and expect nothing of what they did not create.
 */
export function sharedEnvironment(): Promise<StartedEnvironment> {
  started ??= startedEnvironment(newDataFolder(), { DEMO_IDENTITIES: '0' })
  return started
}

after(async () => {
  await (await started)?.stop()
})
