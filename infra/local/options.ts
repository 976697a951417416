import { resolve } from 'node:path'

/** How the local environment is to be started: decisions, section 9. A port of 0 is any free one. */
export type LocalOptions = {
  readonly port: number
  readonly directoryPort: number
  readonly cosmosPort: number
  readonly serviceBusPort: number
  /** Where all state lies. */
  readonly dataFolder: string
  /** People of the first demo tenant, besides the named ones. */
  readonly demoIdentityCount: number
  /** A built app to run, by its folder; undefined: the sources as they are. */
  readonly appFolder: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** @throws Error that names the faulty variable. */
export function readLocalOptions(environment: Environment): LocalOptions {
  return {
    port: wholeNumber(environment, 'PORT', 7071, 65_535),
    directoryPort: wholeNumber(environment, 'DIRECTORY_PORT', 7072, 65_535),
    cosmosPort: wholeNumber(environment, 'COSMOS_PORT', 0, 65_535),
    serviceBusPort: wholeNumber(environment, 'SERVICE_BUS_PORT', 0, 65_535),
    dataFolder: resolve(environment.DATA_DIR || '.local'),
    demoIdentityCount: wholeNumber(environment, 'DEMO_IDENTITIES', 500, 1_000_000),
    appFolder: environment.APP_DIR ? resolve(environment.APP_DIR) : undefined,
  }
}

function wholeNumber(environment: Environment, name: string, otherwise: number, atMost: number): number {
  const text = environment[name]?.trim()
  if (text === undefined || text === '') return otherwise
  if (!/^\d+$/.test(text) || Number(text) > atMost) {
    throw new Error(`${name} has to be a whole number from 0 to ${atMost}, not ${text}`)
  }
  return Number(text)
}
