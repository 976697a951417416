import type { Container, OperationInput, SqlQuerySpec } from '@azure/cosmos'
import type { LocalCosmos } from '../../../infra/local/cosmos/cosmos-server.ts'
import type { OperationKind } from '../../../infra/local/cosmos/handlers.ts'
import { CONTAINERS, type ContainerId, DATABASE_ID } from '../../../shared/cosmos/containers.ts'

/** Makes each call: faults of a process take effect there. */
type Around = <T>(call: () => Promise<T>) => Promise<T>
type Condition = { readonly accessCondition?: { readonly condition: string } }
type StoredDocument = Readonly<Record<string, unknown>>
type Page = { readonly partitionKey?: string; readonly maxItemCount?: number }

/**
 * The containers of a local account without the SDK, for properties with thousands of runs: the operations that the
 * stores use, with the results and errors of the SDK that they read. A call takes a fifth of the time.
 * @param around makes each call.
 */
export function directDatabase(cosmos: LocalCosmos, around: Around = (call) => call()): (id: ContainerId) => Container {
  return (id) => directContainer(cosmos, id, around) as unknown as Container
}

/** The containers for a process that ends before its call of this number. */
export function mortalDatabase(cosmos: LocalCosmos, callsLeft: number): (id: ContainerId) => Container {
  let left = callsLeft
  return directDatabase(cosmos, (call) => {
    left -= 1
    return left < 0 ? Promise.reject(new Error('The process died')) : call()
  })
}

function directContainer(cosmos: LocalCosmos, containerId: string, around: Around) {
  const { partitionKey: path } = CONTAINERS.find(({ id }) => id === containerId) as (typeof CONTAINERS)[number]
  const partitionOf = (document: StoredDocument) => document[path.slice(1)] as string
  const docs = ['dbs', DATABASE_ID, 'colls', containerId, 'docs']

  const call = (operation: OperationKind, id: string[], headers: Record<string, string>, given?: unknown) =>
    around(() => send(operation, id, headers, given))

  async function send(operation: OperationKind, id: string[], headers: Record<string, string>, given?: unknown) {
    await new Promise(setImmediate)
    const body = given === undefined ? '' : JSON.stringify(given)
    const answer = cosmos.answer(operation, { segments: [...docs, ...id], headers, body })
    const { status, headers: answered = {} } = answer
    const resource = answer.body === undefined ? undefined : JSON.parse(answer.body)
    const result = { statusCode: status, code: status, headers: answered, etag: String(answered.etag) }
    if (status < 400) return { ...result, resource }
    if (operation === 'read' && status === 404) return { ...result, resource: undefined }
    throw Object.assign(new Error(resource.message), { code: status, headers: answered })
  }

  const item = (id: string, partition: string) => {
    const one = (operation: OperationKind, { accessCondition }: Condition = {}, document?: unknown) =>
      call(
        operation,
        [id],
        { ...inPartition(partition), ...(accessCondition && { 'if-match': accessCondition.condition }) },
        document,
      )
    return {
      read: () => one('read'),
      replace: (document: unknown, options?: Condition) => one('replace', options, document),
      delete: (options?: Condition) => one('delete', options),
    }
  }

  function query(spec: SqlQuerySpec | string, { partitionKey, maxItemCount = -1 }: Page = {}) {
    let continuation: string | undefined
    let isOpen = true
    return {
      hasMoreResults: () => isOpen,
      async fetchNext() {
        const headers = {
          ...(partitionKey !== undefined && inPartition(partitionKey)),
          'x-ms-max-item-count': String(maxItemCount),
          ...(continuation !== undefined && { 'x-ms-continuation': continuation }),
        }
        const { resource, headers: answered } = await call(
          'query',
          [],
          headers,
          typeof spec === 'string' ? { query: spec } : spec,
        )
        continuation = answered['x-ms-continuation'] as string | undefined
        isOpen = continuation !== undefined
        return { resources: resource.Documents }
      },
    }
  }

  return {
    item,
    items: {
      query,
      create: (document: StoredDocument) => call('create', [], inPartition(partitionOf(document)), document),
      upsert: (document: StoredDocument) => call('upsert', [], inPartition(partitionOf(document)), document),
      async batch(
        operations: OperationInput[],
        partition: string,
        options: { contentResponseOnWriteEnabled?: boolean } = {},
      ) {
        const isMinimal = options.contentResponseOnWriteEnabled === false
        const headers = { ...inPartition(partition), ...(isMinimal && { prefer: 'return=minimal' }) }
        const { resource, code, headers: answered } = await call('batch', [], headers, operations)
        return { result: resource, code, headers: answered }
      },
    },
  }
}

function inPartition(partition: string): Record<string, string> {
  return { 'x-ms-documentdb-partitionkey': JSON.stringify([partition]) }
}
