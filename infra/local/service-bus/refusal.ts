/** Error conditions of the broker, with the status of a `$management` reply. */
const STATUS = {
  'amqp:not-found': 404,
  'amqp:not-implemented': 501,
  'amqp:decode-error': 400,
  'amqp:invalid-field': 400,
  'amqp:not-allowed': 403,
  'amqp:unauthorized-access': 401,
  'amqp:internal-error': 500,
  'amqp:link:message-size-exceeded': 400,
  'com.microsoft:message-lock-lost': 410,
  'com.microsoft:message-not-found': 404,
} as const satisfies Record<string, number>

export type Condition = keyof typeof STATUS

/** A rejected request. Sent to the client as a link error, an outcome or a `$management` status. */
export class BusRefusal extends Error {
  override readonly name = 'BusRefusal'
  readonly condition: string

  constructor(condition: Condition | (string & {}), description: string, options?: ErrorOptions) {
    super(description, options)
    this.condition = condition
  }

  get amqpError(): { condition: string; description: string } {
    return { condition: this.condition, description: this.message }
  }

  /** The HTTP-like status of a `$management` reply. */
  get status(): number {
    return Object.hasOwn(STATUS, this.condition) ? STATUS[this.condition as Condition] : 500
  }
}

/** The refusal of a settlement or renewal with an expired lock. */
export const lockLost = (): BusRefusal =>
  new BusRefusal(
    'com.microsoft:message-lock-lost',
    'The lock supplied is invalid: it expired, or the message has already been settled.',
  )

/** Converts an error to a refusal. Other errors become `otherwise`, by default an internal error. */
export const asRefusal = (failure: unknown, otherwise: Condition = 'amqp:internal-error'): BusRefusal =>
  failure instanceof BusRefusal
    ? failure
    : new BusRefusal(otherwise, failure instanceof Error ? failure.message : String(failure), { cause: failure })
