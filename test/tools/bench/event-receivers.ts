import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createServer as createSocketServer } from 'node:net'
import { parentPort } from 'node:worker_threads'

/** A fast receiver, and one that accepts connections and never answers. They tell the latency of each event. */
const latenciesMs: number[] = []
const seen = new Set<string>()

const fast = createServer((request, response) => {
  const parts: Buffer[] = []
  request.on('data', (part: Buffer) => void parts.push(part))
  request.on('end', () => {
    response.writeHead(204).end()
    const { id, time } = JSON.parse(Buffer.concat(parts).toString()) as { id: string; time: string }
    if (!seen.has(id)) latenciesMs.push(Date.now() - Date.parse(time))
    seen.add(id)
  })
})
fast.keepAliveTimeout = 60_000
const silent = createSocketServer((socket) => socket.on('error', () => socket.destroy()))

parentPort?.on('message', () => parentPort?.postMessage({ latenciesMs: latenciesMs.splice(0) }))
fast.listen(0, '127.0.0.1', () => {
  silent.listen(0, '127.0.0.1', () => {
    const [first, second] = [fast.address(), silent.address()].map((address) => (address as AddressInfo).port)
    parentPort?.postMessage({ fastUrl: `http://127.0.0.1:${first}/`, silentUrl: `http://127.0.0.1:${second}/` })
  })
})
