import { createHmac } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { type Container, type ContainerRequest, CosmosClient } from '@azure/cosmos'
import { type LocalCosmos, type LocalCosmosOptions, startCosmos } from '../../../infra/local/cosmos/cosmos-server.ts'

export const KEY = Buffer.from('a key of these tests').toString('base64')

/** A running account with one database, and a client. */
export type TestAccount = {
  readonly cosmos: LocalCosmos
  readonly client: CosmosClient
  /** Creates the container if it does not exist, with the partition key /tenantId. */
  container(id: string, definition?: Omit<ContainerRequest, 'id'>): Promise<Container>
  close(): Promise<void>
}

/** Starts an account that is closed after the test. In memory and strict by default. */
export async function openAccount(t: TestContext, options: Partial<LocalCosmosOptions> = {}): Promise<TestAccount> {
  const cosmos = await startCosmos({ port: 0, file: ':memory:', key: KEY, strict: true, ...options })
  const client = clientOf(cosmos)
  const close = async () => {
    client.dispose()
    await cosmos.close()
  }
  t.after(close)
  return {
    cosmos,
    client,
    close,
    async container(id, definition = {}) {
      const { database } = await client.databases.createIfNotExists({ id: 'tests' })
      const made = await database.containers.createIfNotExists({
        id,
        partitionKey: { paths: ['/tenantId'] },
        ...definition,
      })
      return made.container
    },
  }
}

export const clientOf = ({ endpoint }: LocalCosmos, key = KEY): CosmosClient => new CosmosClient({ endpoint, key })

/** A folder that is removed after the test. */
export function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'cosmos-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** The feed of documents of a container of the tests' database. */
export const docsOf = (container: string): string => `/dbs/tests/colls/${container}/docs`

/** Sends a signed request with any body and headers. The path is signed without decoding. */
export async function send(
  { endpoint, key }: LocalCosmos,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<Response> {
  const segments = path.split('/').filter((segment) => segment !== '')
  const isFeed = segments.length % 2 === 1
  const type = (isFeed ? segments.at(-1) : segments.at(-2)) ?? ''
  const link = (isFeed ? segments.slice(0, -1) : segments).join('/')
  const date = new Date(0).toUTCString()
  const text = `${method.toLowerCase()}\n${type}\n${link}\n${date.toLowerCase()}\n\n`
  const signature = createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64')
  const authorization = encodeURIComponent(`type=master&ver=1.0&sig=${signature}`)
  return fetch(endpoint + path, {
    method,
    headers: { 'x-ms-date': date, authorization, ...headers },
    ...(body === undefined ? {} : { body }),
  })
}
