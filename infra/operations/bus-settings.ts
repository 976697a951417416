import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BusSettings } from '../../shared/messaging/message-sender.ts'
import { OperationError } from './dead-letter-options.ts'

type Values = Readonly<Record<string, string | undefined>>

/**
 * Connects with a connection string, or to a namespace as the signed-in user. Reads the settings from the environment,
 * otherwise from a file in the format of `local.settings.json`.
 * @throws OperationError if no setting is found or the file cannot be read
 */
export async function busSettingsOf(settingsFile: string | undefined, environment: Values): Promise<BusSettings> {
  const found = settingsOf(environment) ?? settingsOf(fileValues(settingsFile ?? defaultFile(environment)))
  if (found === undefined) throw new OperationError('Set ServiceBus or ServiceBus__fullyQualifiedNamespace')
  if ('connectionString' in found) return found
  const { DefaultAzureCredential } = await import('@azure/identity')
  return { ...found, credential: new DefaultAzureCredential() }
}

function settingsOf(values: Values): { connectionString: string } | { namespace: string } | undefined {
  if (values.ServiceBus) return { connectionString: values.ServiceBus }
  const namespace = values.ServiceBus__fullyQualifiedNamespace
  return namespace ? { namespace } : undefined
}

/** The settings file of the current folder, otherwise that of a local environment. */
function defaultFile(environment: Values): string | undefined {
  const dataFolder = environment.DATA_DIR || '.local'
  return ['local.settings.json', join(dataFolder, 'local.settings.json')].find((file) => existsSync(file))
}

function fileValues(file: string | undefined): Values {
  if (file === undefined) return {}
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { Values?: Values }).Values ?? {}
  } catch (cause) {
    throw new OperationError(`${file} is not a valid settings file`, { cause })
  }
}
