import { createSecretKey } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { cutAndClose, listenOnLocalhost, NEVER } from '../localhost.ts'
import { openCatalog } from './catalog.ts'
import { operationOf, readBody, verifySignature } from './cosmos-request.ts'
import { type Account, type Call, noOperations, type OperationCounts, type OperationKind } from './handlers.ts'
import { type HttpClient, inProcessClient, type ReceivedRequest } from './in-process.ts'
import { answerOperation } from './item-operations.ts'
import { PartitionTurns } from './partition-turns.ts'
import { type Answer, badRequest, CosmosFailure, chargeOf, failureAnswer, send } from './response.ts'
import { type ContainerSizes, openStorage } from './storage.ts'
import { type Throttle, Throttling } from './throttling.ts'

export type LocalCosmosOptions = {
  /** 0 selects a free port. */
  readonly port: number
  /** A file path, or `:memory:`. */
  readonly file: string
  /** Master key of the account, in base64. */
  readonly key: string
  /** Rejects cross-partition queries with a different result in Azure: ORDER BY, TOP, OFFSET, COUNT. */
  readonly strict: boolean
  /** Clock for `_ts` and `ttl`. */
  readonly nowMs?: () => number
}

/** A running Cosmos DB account on 127.0.0.1. */
export type LocalCosmos = {
  readonly endpoint: string
  readonly key: string
  /** A transport to the account without connections and signatures. */
  readonly httpClient: HttpClient
  /** Runs an operation on items without the protocol, its signatures and its throttles. */
  answer(operation: OperationKind, request: Omit<Call, 'account'>): Answer
  /** Returns 429 for the next matching requests. The returned function removes the throttle. */
  throttleNext(throttle: Throttle): () => void
  /** Operations asked for since the start, by kind. */
  operations(): OperationCounts
  /** Documents written since the file was made: a batch that only reads writes none. */
  writeCount(): number
  /** The documents of each container by its id. */
  sizes(): ContainerSizes
  /** Request units charged since the start. */
  chargedUnits(): number
  /** Lets the process end while the account is open. */
  unref(): void
  /** Closes all connections immediately, then the file. */
  close(): Promise<void>
}

type Running = {
  readonly account: Account
  readonly counts: OperationCounts
  readonly throttling: Throttling
  readonly turns: PartitionTurns
  chargedUnits: number
}

/**
 * Starts a server with the part of the Cosmos DB (NoSQL) protocol that the service uses through `@azure/cosmos`.
 * @throws Error that names the unusable file or the port in use
 */
export async function startCosmos(options: LocalCosmosOptions): Promise<LocalCosmos> {
  const storage = openStorage(options.file, options.nowMs ?? Date.now)
  let running: Running | undefined
  let closed: Promise<void> | undefined
  const makeServer = () =>
    createServer({ maxHeaderSize: 64 * 1024, keepAliveTimeout: NEVER }, (request, response) => {
      if (running !== undefined) void serve(running, request, response)
    })
  try {
    const catalog = openCatalog(storage)
    const { port, servers } = await listenOnLocalhost(options.port, makeServer)
    const endpoint = `http://127.0.0.1:${port}`
    const key = createSecretKey(options.key, 'base64')
    const account = { storage, catalog, key, isStrict: options.strict, endpoint }
    const { counts, throttling } = { counts: noOperations(), throttling: new Throttling() }
    const served: Running = { account, counts, throttling, turns: new PartitionTurns(), chargedUnits: 0 }
    running = served
    return {
      endpoint,
      key: options.key,
      httpClient: inProcessClient((request, body) => answerOrFailure(served, () => answerTo(served, request, body))),
      answer(operation, request) {
        counts[operation]++
        return answerOrFailure(served, () => answerOperation(operation, { account, ...request }))
      },
      throttleNext: (throttle) => throttling.add(throttle),
      operations: () => ({ ...counts }),
      writeCount: () => storage.writeCount(),
      sizes: () => storage.sizes(),
      chargedUnits: () => served.chargedUnits,
      unref: () => servers.forEach((server) => void server.unref()),
      close() {
        closed ??= cutAndClose(servers).finally(() => storage.close())
        return closed
      },
    }
  } catch (cause) {
    storage.close()
    throw cause
  }
}

async function serve(running: Running, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const partition = String(request.headers['x-ms-documentdb-partitionkey'] ?? '')
  const answer = await readBody(request).then(
    (body) => running.turns.run(partition, () => answerOrFailure(running, () => answerSigned(running, request, body))),
    (cause) => failureAnswer(asFailure(cause)),
  )
  if (!response.destroyed) send(response, answer)
}

function answerOrFailure(running: Running, work: () => Answer): Answer {
  let answer: Answer
  try {
    answer = work()
  } catch (cause) {
    answer = failureAnswer(asFailure(cause))
  }
  running.chargedUnits += chargeOf(answer)
  return answer
}

/** Only requests over a connection are signed: a caller in the same process has the key. */
function answerSigned(running: Running, request: ReceivedRequest, body: string): Answer {
  const { method = '', url = '/', headers } = request
  const segments = segmentsOf(url)
  verifySignature(method, segments, headers, running.account.key)
  return answerTo(running, request, body)
}

function answerTo(running: Running, { method = '', url = '/', headers }: ReceivedRequest, body: string): Answer {
  const { account, counts, throttling } = running
  const segments = segmentsOf(url)
  const operation = operationOf(method, segments, headers)
  counts[operation]++
  if (throttling.takes(operation)) {
    return failureAnswer(new CosmosFailure(429, 'Request rate is large', 3200), { 'x-ms-retry-after-ms': 1 })
  }
  return answerOperation(operation, { account, segments, headers, body })
}

function segmentsOf(url: string): string[] {
  const [path = ''] = url.split('?')
  try {
    return path
      .split('/')
      .filter((segment) => segment !== '')
      .map(decodeURIComponent)
  } catch {
    throw badRequest(`The path ${path} is not percent-encoded UTF-8`)
  }
}

/** Internal errors include their details for the developer. */
function asFailure(cause: unknown): CosmosFailure {
  return cause instanceof CosmosFailure ? cause : new CosmosFailure(500, (cause as Error).stack ?? String(cause))
}
