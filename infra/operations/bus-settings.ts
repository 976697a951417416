import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BusSettings } from '../../shared/messaging/message-sender.ts'
import { OperationRefusal } from './dead-letter-options.ts'

type Values = Readonly<Record<string, string | undefined>>

/**
 * How to reach the namespace: by its connection string, else as whoever runs the command, by the first that is set in
 * the environment or in a settings file of the form that Functions has on one machine.
 * @throws OperationRefusal when nothing is set, or the file cannot be read
 */
export async function busSettingsOf(settingsFile: string | undefined, environment: Values): Promise<BusSettings> {
  const found = settingsOf(environment) ?? settingsOf(fileValues(settingsFile ?? usualFile(environment)))
  if (found === undefined) throw new OperationRefusal('Set ServiceBus or ServiceBus__fullyQualifiedNamespace')
  if ('connectionString' in found) return found
  const { DefaultAzureCredential } = await import('@azure/identity')
  return { ...found, credential: new DefaultAzureCredential() }
}

function settingsOf(values: Values): { connectionString: string } | { namespace: string } | undefined {
  if (values.ServiceBus) return { connectionString: values.ServiceBus }
  const namespace = values.ServiceBus__fullyQualifiedNamespace
  return namespace ? { namespace } : undefined
}

/** One's own settings, else those of the environment that runs on this machine. */
function usualFile(environment: Values): string | undefined {
  const dataFolder = environment.DATA_DIR || '.local'
  return ['local.settings.json', join(dataFolder, 'local.settings.json')].find((file) => existsSync(file))
}

function fileValues(file: string | undefined): Values {
  if (file === undefined) return {}
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { Values?: Values }).Values ?? {}
  } catch (cause) {
    throw new OperationRefusal(`${file} cannot be read as settings`, { cause })
  }
}
