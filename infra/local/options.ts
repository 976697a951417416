import { resolve } from 'node:path'

/** Options of the local environment. Port 0 selects any free port. */
export type LocalOptions = {
  readonly port: number
  readonly directoryPort: number
  /** Port of the directory's sign-in without TLS. */
  readonly directoryHttpPort: number
  readonly cosmosPort: number
  readonly serviceBusPort: number
  /** Folder of all local state. */
  readonly dataFolder: string
  /** Number of generated people in the first demo tenant. */
  readonly demoIdentityCount: number
  /** Folder of a built app to run. Undefined: run the sources. */
  readonly appFolder: string | undefined
}

type Environment = Readonly<Record<string, string | undefined>>

/** @throws Error that names the invalid variable */
export function readLocalOptions(environment: Environment): LocalOptions {
  return {
    port: wholeNumber(environment, 'PORT', 7071, 65_535),
    directoryPort: wholeNumber(environment, 'DIRECTORY_PORT', 7072, 65_535),
    // Beside a directory on a chosen port, any free port, so that several environments run side by side.
    directoryHttpPort: wholeNumber(environment, 'DIRECTORY_HTTP_PORT', environment.DIRECTORY_PORT ? 0 : 7073, 65_535),
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
    throw new Error(`${name} must be an integer from 0 to ${atMost}, not ${text}`)
  }
  return Number(text)
}
