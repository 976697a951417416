import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadApp } from '../../infra/local/host/loader.ts'
import { type AzureTypes, readAzureTypes } from './bicep/azure-types.ts'
import type { ProjectFacts } from './rules/rule.ts'

const PROJECT_FOLDER = fileURLToPath(new URL('../..', import.meta.url))

/** Enough for the app to load: nothing connects before it is used. */
const SETTINGS = {
  SERVICE_CLIENT_ID: '11111111-1111-4111-8111-111111111111',
  HOME_TENANT_ID: '22222222-2222-4222-8222-222222222222',
  GRAPH_CLIENT_SECRET: 'not-used',
  COSMOS_ENDPOINT: 'http://127.0.0.1:9',
  COSMOS_KEY: Buffer.alloc(64).toString('base64'),
  ServiceBus: 'Endpoint=sb://127.0.0.1:9;SharedAccessKeyName=x;SharedAccessKey=y;UseDevelopmentEmulator=true',
  CURSOR_KEYS: Buffer.alloc(32).toString('base64'),
}

/** The text of a file of the project. */
export const readProjectText = (file: string): string => readFileSync(join(PROJECT_FOLDER, file), 'utf8')

/** The project's files that fit a pattern, by their path from its folder. */
export const projectFiles = (pattern: string): string[] => globSync(pattern, { cwd: PROJECT_FOLDER }).sort()

/** Collects what the templates have to agree with. */
export async function readProjectFacts(): Promise<ProjectFacts> {
  const { engines } = JSON.parse(readProjectText('package.json')) as { engines: { node: string } }
  return {
    connections: await connectionsOfFunctions(),
    nodeMajor: /\d+/.exec(engines.node)?.[0] ?? '',
    serviceNames: servicesOf(readProjectText('azure.yaml')),
    eventNames: new Set(
      projectFiles('{functions,shared}/**/*.ts').flatMap((file) =>
        [...readProjectText(file).matchAll(/'([a-z-]+(?:\.[a-z-]+)+)'/g)].map(([, name = '']) => name),
      ),
    ),
  }
}

async function connectionsOfFunctions(): Promise<string[]> {
  Object.assign(process.env, SETTINGS)
  const { functions } = await loadApp(PROJECT_FOLDER, ['functions/*.ts'])
  const connections = functions.flatMap(({ metadata }) =>
    Object.values(metadata.bindings).flatMap(({ connection }) => (typeof connection === 'string' ? [connection] : [])),
  )
  return [...new Set(connections)]
}

/** Names below `services:`: the lines with the least indentation. */
function servicesOf(yaml: string): string[] {
  const [, block = ''] = /^services:\n((?:[ \t]+.*\n|\n)+)/m.exec(yaml) ?? []
  const indentation = /^ +/.exec(block)?.[0] ?? ''
  return [...block.matchAll(new RegExp(`^${indentation}(\\S+):`, 'gm'))].map(([, name = '']) => name)
}

/** The types of Azure's resources, where they have been put beside the project; `AZURE_TYPES` names another file. */
export function readTypes(): AzureTypes | undefined {
  const file = process.env.AZURE_TYPES ?? join(PROJECT_FOLDER, '../shared/data/azure-types.json.gz')
  return readAzureTypes(file)
}

/** The folder that the paths are from. */
export const projectFolder = PROJECT_FOLDER
