import { after } from 'node:test'
import { newDataFolder, type StartedEnvironment, startedEnvironment } from './started-environment.ts'

const started = new Map<number, Promise<StartedEnvironment>>()

/**
 * The environment that all test files of a process share: a start takes as long as the tests of most files. `npm test`
 * runs these files in one process. Their tests leave the demo people and their roles as they are, expect nothing of
 * what they did not create, and each links groups of its own.
 * @param identityCount number of generated people, beside the named ones
 */
export function sharedEnvironment(identityCount: number): Promise<StartedEnvironment> {
  const known =
    started.get(identityCount) ?? startedEnvironment(newDataFolder(), { DEMO_IDENTITIES: `${identityCount}` })
  started.set(identityCount, known)
  return known
}

after(async () => {
  for (const environment of started.values()) await (await environment).stop()
})
