import { type Session, SignInEnded } from './sign-in.ts'

/** One entry of a refusal. */
export type ApiFault = { readonly code: string; readonly message: string; readonly target?: string }

/** The API refused a request. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal'
  readonly status: number
  readonly faults: readonly ApiFault[]

  constructor(status: number, faults: readonly ApiFault[]) {
    super(faults[0]?.message ?? `HTTP ${status}`)
    this.status = status
    this.faults = faults
  }

  has(code: string): boolean {
    return this.faults.some((fault) => fault.code === code)
  }
}

/** The service or the network did not respond. */
export class ApiUnreachable extends Error {
  override readonly name = 'ApiUnreachable'
}

type ApiAnswer<Data> = {
  readonly data: Data
  readonly nextCursor: string | undefined
  /** The version of the record, for `If-Match`. */
  readonly etag: string | undefined
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
type ApiRequest = {
  /** JSON: members that are undefined are left out. */
  readonly body?: unknown
  /** The version that the person has seen. The request is refused if the record has changed since. */
  readonly ifMatch?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

/** One page of a list. `nextCursor`: undefined on the last page. */
export type PageOf<Item> = { readonly items: readonly Item[]; readonly nextCursor: string | undefined }

export type Api = {
  /** @throws ApiRefusal, ApiUnreachable, SignInEnded */
  send<Data>(method: Method, path: string, request?: ApiRequest): Promise<ApiAnswer<Data>>
  /**
   * Creates a record. The same request again after an answer was lost creates no second one: it has the same
   * `Idempotency-Key`.
   */
  create<Data>(path: string, body: object): Promise<Data>
  /** A record, without its version. */
  read<Data>(path: string, signal?: AbortSignal): Promise<Data>
  /** One page of a list. */
  page<Item>(path: string, signal?: AbortSignal): Promise<PageOf<Item>>
  /** The items of all pages of a list, each page when it is needed. */
  each<Item>(path: string, signal?: AbortSignal): AsyncIterable<Item>
  /** All pages of a list. */
  all<Item>(path: string): Promise<Item[]>
}

/** Calls the API of this origin as the signed-in person. */
export function apiOf(session: Session): Api {
  async function send<Data>(method: Method, path: string, request: ApiRequest = {}): Promise<ApiAnswer<Data>> {
    const { body, ifMatch, signal } = request
    const headers: Record<string, string> = { ...request.headers }
    if (body !== undefined) headers['content-type'] = 'application/json'
    if (ifMatch !== undefined) headers['if-match'] = ifMatch
    const init: RequestInit = { method, ...(signal && { signal }) }
    if (body !== undefined) init.body = JSON.stringify(body)
    const attempt = async (refused?: string) => {
      const token = await reached(() => session.accessToken(refused))
      return { token, response: await reached(() => fetch(path, { ...init, headers: bearing(token, headers) })) }
    }
    let { token, response } = await attempt()
    if (response.status === 401) ({ token, response } = await attempt(token))
    const envelope = await envelopeOf<Data>(response)
    if (response.status === 401) throw new SignInEnded('The API does not accept the token')
    if (!response.ok) throw new ApiRefusal(response.status, envelope?.errors ?? [])
    return {
      data: envelope?.data as Data,
      nextCursor: envelope?.nextCursor ?? undefined,
      etag: response.headers.get('etag') ?? undefined,
    }
  }

  /** The keys of creations without an answer, each by its path and body. */
  const openKeys = new Map<string, string>()

  async function create<Data>(path: string, body: object): Promise<Data> {
    const request = `${path} ${JSON.stringify(body)}`
    const key = openKeys.get(request) ?? crypto.randomUUID()
    openKeys.set(request, key)
    try {
      const { data } = await send<Data>('POST', path, { body, headers: { 'idempotency-key': key } })
      openKeys.delete(request)
      return data
    } catch (error) {
      if (hasCreatedNothing(error)) openKeys.delete(request)
      throw error
    }
  }

  async function* each<Item>(path: string, signal?: AbortSignal) {
    let cursor: string | undefined
    do {
      const { data, nextCursor } = await send<Item[]>('GET', withCursor(path, cursor), { signal })
      yield* data
      cursor = nextCursor
    } while (cursor !== undefined)
  }

  return {
    send,
    create,
    each,
    async read<Data>(path: string, signal?: AbortSignal) {
      return (await send<Data>('GET', path, { signal })).data
    },
    async page<Item>(path: string, signal?: AbortSignal) {
      const { data, nextCursor } = await send<Item[]>('GET', path, { signal })
      return { items: data, nextCursor }
    },
    async all<Item>(path: string) {
      const items: Item[] = []
      for await (const item of each<Item>(path)) items.push(item)
      return items
    },
  }
}

/** After a failure of the service or the network, the record may exist, or be created later. */
function hasCreatedNothing(error: unknown): boolean {
  return error instanceof ApiRefusal && error.status < 500 && !error.has('IdempotencyKeyInUse')
}

/** The path of the page that a cursor names; the first page without one. */
export function withCursor(path: string, cursor: string | undefined): string {
  if (cursor === undefined) return path
  return `${path}${path.includes('?') ? '&' : '?'}nextCursor=${encodeURIComponent(cursor)}`
}

const bearing = (token: string, headers: Readonly<Record<string, string>>) => ({
  ...headers,
  authorization: `Bearer ${token}`,
})

type Envelope<Data> = {
  readonly data: Data
  readonly nextCursor?: string | null
  readonly errors: readonly ApiFault[]
}

async function envelopeOf<Data>(response: Response): Promise<Envelope<Data> | undefined> {
  const text = await reached(() => response.text())
  try {
    return text === '' ? undefined : (JSON.parse(text) as Envelope<Data>)
  } catch (cause) {
    throw new ApiUnreachable(`HTTP ${response.status} without a response of the service`, { cause })
  }
}

/** A failed `fetch` or `import` is a `TypeError`, for any reason. @throws ApiUnreachable */
export async function reached<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    throw cause instanceof TypeError ? new ApiUnreachable('The service is not reachable', { cause }) : cause
  }
}
