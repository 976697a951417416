const CODES = {
  400: 'BadRequest',
  401: 'Unauthorized',
  404: 'NotFound',
  409: 'Conflict',
  412: 'PreconditionFailed',
  413: 'RequestEntityTooLarge',
  429: 'TooManyRequests',
  500: 'InternalServerError',
} as const

export type FailureStatus = keyof typeof CODES

/** An error response of the protocol. The client parses the body of every error, so each body is JSON. */
export class CosmosFailure extends Error {
  readonly status: FailureStatus
  readonly substatus: number | undefined

  constructor(status: FailureStatus, message: string, substatus?: number) {
    super(message)
    this.name = 'CosmosFailure'
    this.status = status
    this.substatus = substatus
  }

  /** The JSON body of the response. */
  body(): string {
    return JSON.stringify({ code: CODES[this.status], message: this.message })
  }
}

/** A 400 error. The message names the invalid part of the request. */
export const badRequest = (message: string, substatus?: number): CosmosFailure =>
  new CosmosFailure(400, message, substatus)
