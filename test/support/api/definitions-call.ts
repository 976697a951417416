import { type ApiCall, ApiRefusal } from '../../../infra/import/api-connection.ts'
import type { JoinableFixture } from './joinable-fixture.ts'

/** Calls of a tenant without links and settings. */
export const callAs =
  ({ call }: JoinableFixture, token: string): ApiCall =>
  async (method, path, body, headers = {}) => {
    if (path.startsWith('/group-link/beta/settings')) return { data: { timeZone: 'UTC' }, etag: undefined }
    if (path.startsWith('/group-link/')) return { data: [], etag: undefined }
    const { codes, messages, status, data, headers: answered } = await call<unknown>(token, method, path, body, headers)
    if (codes.length === 0) return { data, etag: answered.etag }
    const errors = codes.map((code, index) => ({ code, message: messages[index] ?? '' }))
    throw new ApiRefusal(messages.join(), status, errors)
  }
