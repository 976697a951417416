import rhea, { type Delivery, type Sender, type Session, type Typed } from 'rhea'

// Parts of rhea that its published types do not declare. The package version is pinned because of this file.

type FlowState = { credit: number; delivery_count: number; _draining: boolean }
type TransferFrame = { performative: { message_format?: number | null } }
type Incoming = { on_transfer(frame: TransferFrame, receiver: unknown): void }
type Outgoing = { available(): number }
type Registering = { _register(): void }
type Outcome = { described(): unknown }
type Outcomes = { accepted(): Outcome; rejected(fields: { error: unknown }): Outcome }
type Codec = {
  Reader: new (bytes: Buffer) => { read(): Typed; remaining(): number }
  Writer: new () => { write(value: Typed): void; toBuffer(): Buffer }
  List32(items: readonly Typed[]): Typed
  Map32(items: readonly Typed[]): Typed
  wrap_ulong(value: number): Typed
}

/** A message format that rhea does not decode, so that messages arrive as raw bytes. */
const RAW_FORMAT = 0xffff_ffff

const codec = rhea.types as unknown as Codec
const outcomes = rhea.message as unknown as Outcomes

/** Receives messages as raw bytes: decoding and encoding would lose types. */
export function keepMessagesRaw(session: Session): void {
  const { incoming } = session as unknown as { incoming: Incoming }
  const onTransfer = incoming.on_transfer
  incoming.on_transfer = (frame, receiver) => {
    if (frame.performative.message_format === 0) frame.performative.message_format = RAW_FORMAT
    onTransfer.call(incoming, frame, receiver)
  }
}

/** Remaining credit of the link. */
export class Credit {
  readonly #sender: Sender
  #sent = 0

  constructor(sender: Sender) {
    this.#sender = sender
  }

  /** Records a message passed to rhea, whose own count does not include unwritten messages. */
  spend(): void {
    this.#sent += 1
  }

  get left(): number {
    const { outgoing } = this.#sender.session as unknown as { outgoing: Outgoing }
    const { credit, delivery_count } = this.#sender as unknown as FlowState
    this.#sent = Math.max(this.#sent, delivery_count)
    return Math.min(credit + delivery_count - this.#sent, outgoing.available())
  }

  /** Drains the credit if the receiver requested it and no message waits to be written. */
  drain(): void {
    const { credit, delivery_count, _draining } = this.#sender as unknown as FlowState
    if (!_draining || credit === 0 || this.#sent > delivery_count) return
    this.#sender.set_drained(true)
    register(this.#sender)
  }
}

/** Settles a delivery: accepted, or rejected with an error. */
export function settle(delivery: Delivery, error?: { condition: string; description: string }): void {
  const outcome = error === undefined ? outcomes.accepted() : outcomes.rejected({ error })
  delivery.update(true, outcome.described())
  // With receiver-settle-mode "second" the client does not confirm the settlement, and its window would fill up.
  Object.assign(delivery, { remote_settled: true })
}

export const decodeValue = (bytes: Buffer): Typed => new codec.Reader(bytes).read()

/** Encodes a message section: a list or map of typed values under its descriptor. */
export function encodeSection(descriptor: number, shape: 'list' | 'map', items: readonly Typed[]): Buffer {
  const writer = new codec.Writer()
  const value = shape === 'list' ? codec.List32(items) : codec.Map32(items)
  writer.write(rhea.types.described(codec.wrap_ulong(descriptor), value))
  return writer.toBuffer()
}

const register = (sender: Sender): void => (sender.connection as unknown as Registering)._register()
