import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AzureTypes, readAzureTypes } from './bicep/azure-types.ts'
import type { ProjectFacts } from './rules/rule.ts'

const PROJECT_FOLDER = fileURLToPath(new URL('../../..', import.meta.url))

/** Connections of the registered functions. */
export const CONNECTIONS: readonly string[] = ['ServiceBus']

/** The text of a file of the project. */
export const readProjectText = (file: string): string => readFileSync(join(PROJECT_FOLDER, file), 'utf8')

/** Project files that match a pattern, relative to the project folder. */
export const projectFiles = (pattern: string): string[] => globSync(pattern, { cwd: PROJECT_FOLDER }).sort()

/** Reads the facts that the templates must match. */
export function readProjectFacts(): ProjectFacts {
  const { engines } = JSON.parse(readProjectText('package.json')) as { engines: { node: string } }
  return {
    connections: CONNECTIONS,
    nodeMajor: /\d+/.exec(engines.node)?.[0] ?? '',
    serviceNames: servicesOf(readProjectText('azure.yaml')),
  }
}

/** Names below `services:`, the lines with the smallest indentation. */
function servicesOf(yaml: string): string[] {
  const [, block = ''] = /^services:\n((?:[ \t]+.*\n|\n)+)/m.exec(yaml) ?? []
  const indentation = /^ +/.exec(block)?.[0] ?? ''
  return [...block.matchAll(new RegExp(`^${indentation}(\\S+):`, 'gm'))].map(([, name = '']) => name)
}

/** The types of the Azure resources that the templates declare. */
export const readTypes = (): AzureTypes =>
  readAzureTypes(join(PROJECT_FOLDER, 'test/support/infra/azure-types/azure-types.json.gz'))

/** The project folder. */
export const projectFolder = PROJECT_FOLDER
