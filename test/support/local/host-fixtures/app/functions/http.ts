import { setTimeout as sleep } from 'node:timers/promises'
import { app, type HttpMethod, type HttpRequest, type HttpResponseInit } from '@azure/functions'
import { observed } from '../../observed.ts'

const ALL_METHODS: HttpMethod[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']

observed.evaluations++
let visits = 0

async function echo(request: HttpRequest): Promise<HttpResponseInit> {
  const body = Buffer.from(await request.arrayBuffer())
  return {
    headers: { 'x-method': request.method },
    jsonBody: {
      method: request.method,
      url: request.url,
      params: request.params,
      query: [...request.query],
      searchParams: [...new URL(request.url).searchParams],
      bodyHex: body.toString('hex'),
    },
  }
}

app.http('echo', { methods: ALL_METHODS, authLevel: 'anonymous', route: 'echo/{*rest}', handler: echo })
app.http('header', {
  route: 'headers/{*name}',
  handler: ({ headers, params }) => ({ body: headers.get(params.name ?? '') ?? '' }),
})
app.http('unrouted', { handler: echo })

app.http('alpha', { methods: ['GET'], route: 'things/{*path}', handler: () => ({ body: 'alpha' }) })
app.http('Beta', { methods: ['GET'], route: 'things/special', handler: () => ({ body: 'beta' }) })

app.http('visits', { route: 'visits', handler: () => ({ jsonBody: { visits: ++visits } }) })
app.http('trivial', {
  methods: ['GET'],
  route: 'trivial',
  handler: (_, { traceContext }) => {
    observed.traces.push(traceContext)
    return { body: 'ok' }
  },
})
app.http('throws', {
  route: 'throws',
  handler: () => {
    throw new Error('the handler failed')
  },
})
app.http('nothing', { route: 'nothing', handler: async () => undefined as unknown as HttpResponseInit })
app.http('text', { route: 'text', handler: () => 'no response object' as unknown as HttpResponseInit })
app.http('empty', { route: 'empty', handler: () => ({ status: 202 }) })
app.http('binary', {
  route: 'binary',
  handler: () => ({
    headers: { 'content-type': 'application/octet-stream' },
    body: Uint8Array.from({ length: 256 }, (_, byte) => byte),
  }),
})
app.http('status', {
  route: 'status/{*code}',
  handler: (request) => ({ status: Number(request.params.code), body: 'dropped where the status allows none' }),
})
app.http('length', { methods: ['HEAD'], route: 'length', handler: () => ({ headers: { 'content-length': '12345' } }) })
app.http('logs', {
  route: 'logs',
  handler: (_, context) => {
    context.warn('something', { odd: true })
    return { body: context.invocationId }
  },
})
app.http('slow', {
  route: 'slow',
  handler: async (request) => {
    observed.begun.emit('slow')
    await sleep(Number(request.query.get('delayMs')))
    observed.ended.push('slow')
    return { body: 'done' }
  },
})
