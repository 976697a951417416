/** Conditions the broker names, with the status a `$management` reply carries for them. */
const STATUS = {
  'amqp:not-found': 404,
  'amqp:not-implemented': 501,
  'amqp:decode-error': 400,
  'amqp:invalid-field': 400,
  'amqp:not-allowed': 403,
  'amqp:internal-error': 500,
  'amqp:link:message-size-exceeded': 400,
  'com.microsoft:message-lock-lost': 410,
  'com.microsoft:message-not-found': 404,
} as const satisfies Record<string, number>

/** An AMQP error condition that the broker answers with. */
export type Condition = keyof typeof STATUS

/** A request refused: told to the client as a link error, an outcome or a `$management` status, whichever fits. */
export class BusRefusal extends Error {
  override readonly name = 'BusRefusal'
  readonly condition: string

  constructor(condition: Condition | (string & {}), description: string, options?: ErrorOptions) {
    super(description, options)
    this.condition = condition
  }

  /** The refusal as an AMQP error. */
  get amqpError(): { condition: string; description: string } {
    return { condition: this.condition, description: this.message }
  }

  /** The HTTP-like status of a `$management` reply. */
  get status(): number {
    return Object.hasOwn(STATUS, this.condition) ? STATUS[this.condition as Condition] : 500
  }
}

/** The refusal of a settlement or renewal under a lock that is no longer held. */
export const lockLost = (): BusRefusal =>
  new BusRefusal(
    'com.microsoft:message-lock-lost',
    'The lock supplied is invalid: it expired, or the message has already been settled.',
  )

/** Any failure as a refusal: what is not one already is an internal error, or `otherwise`. */
export const asRefusal = (failure: unknown, otherwise: Condition = 'amqp:internal-error'): BusRefusal =>
  failure instanceof BusRefusal
    ? failure
    : new BusRefusal(otherwise, failure instanceof Error ? failure.message : String(failure), { cause: failure })
