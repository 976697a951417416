import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { gunzipSync } from 'node:zlib'
import { serverCertificate } from '../../../infra/local/directory/certificates.ts'

/** One item of telemetry, as Application Insights takes it. */
export type Envelope = {
  readonly name: string
  readonly tags: Readonly<Record<string, string>>
  readonly data: {
    readonly baseType: 'RequestData' | 'RemoteDependencyData' | 'MetricData' | string
    readonly baseData: {
      readonly id?: string
      readonly name?: string
      readonly metrics?: readonly { readonly name: string; readonly value: number; readonly count?: number }[]
      readonly properties?: Readonly<Record<string, string>>
    }
  }
}

export type IngestionEndpoint = {
  readonly connectionString: string
  /** All that has come, in its order. */
  readonly envelopes: Envelope[]
  close(): Promise<void>
}

/**
 * Takes telemetry on loopback, as the ingestion endpoint of Application Insights does: the exporter insists on TLS.
 * @param dataFolder of the environment that exports, whose authority it trusts.
 */
export async function startIngestionEndpoint(dataFolder: string): Promise<IngestionEndpoint> {
  const envelopes: Envelope[] = []
  const { certificatePem: cert, keyPem: key } = serverCertificate(dataFolder, Date.now())
  const server = createServer({ cert, key }, async (request, response) => {
    const items = parsed(await bytesOf(request))
    if (request.url?.endsWith('/track')) envelopes.push(...items)
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ itemsReceived: items.length, itemsAccepted: items.length, errors: [] }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    connectionString: `InstrumentationKey=00000000-0000-4000-8000-000000000001;IngestionEndpoint=https://localhost:${port}/`,
    envelopes,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const body = Buffer.concat(await Array.fromAsync(request as AsyncIterable<Buffer>))
  return request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
}

/** An array, or an object on each line. */
function parsed(body: Buffer): Envelope[] {
  const text = body.toString().trim()
  if (text.startsWith('[')) return JSON.parse(text)
  return text.split('\n').map((line) => JSON.parse(line))
}
