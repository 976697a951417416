import { randomUUID } from 'node:crypto'

/** OAuth errors and numbers of the supported AADSTS errors. RFC 6749, section 5.2. */
const ERRORS = {
  50034: { status: 400, error: 'invalid_grant' },
  50126: { status: 400, error: 'invalid_grant' },
  70003: { status: 400, error: 'unsupported_grant_type' },
  70011: { status: 400, error: 'invalid_scope' },
  90002: { status: 400, error: 'invalid_request' },
  500011: { status: 400, error: 'invalid_resource' },
  700016: { status: 400, error: 'unauthorized_client' },
  700024: { status: 401, error: 'invalid_client' },
  700027: { status: 401, error: 'invalid_client' },
  700212: { status: 401, error: 'invalid_client' },
  700213: { status: 401, error: 'invalid_client' },
  900144: { status: 400, error: 'invalid_request' },
  1002012: { status: 400, error: 'invalid_scope' },
  7000215: { status: 401, error: 'invalid_client' },
  7000218: { status: 401, error: 'invalid_client' },
} as const

/** A rejected token request. https://learn.microsoft.com/entra/identity-platform/reference-error-codes */
export class TokenRefusal extends Error {
  readonly number: keyof typeof ERRORS

  constructor(number: keyof typeof ERRORS, message: string) {
    super(message)
    this.number = number
  }

  get status(): number {
    return ERRORS[this.number].status
  }

  /** The response body of the identity provider. */
  body(nowMs: number) {
    const timestamp = new Date(nowMs).toISOString().replace('T', ' ').replace(/\.\d+/, '')
    const [traceId, correlationId] = [randomUUID(), randomUUID()]
    return {
      error: ERRORS[this.number].error,
      error_description: `AADSTS${this.number}: ${this.message} Trace ID: ${traceId} Correlation ID: ${correlationId} Timestamp: ${timestamp}`,
      error_codes: [this.number],
      timestamp,
      trace_id: traceId,
      correlation_id: correlationId,
    }
  }
}
