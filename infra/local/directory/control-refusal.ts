/** A request to `/local/...` that makes no sense: answered 400 with this message. */
export class ControlRefusal extends Error {}

/** @throws ControlRefusal unless the body is a JSON object with no members but these. */
export function controlBody(body: unknown, members: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ControlRefusal('The body has to be a JSON object')
  }
  const unknown = Object.keys(body).find((name) => !members.includes(name))
  if (unknown !== undefined) throw new ControlRefusal(`Unknown member ${unknown}: known are ${members.join(', ')}`)
  return body as Record<string, unknown>
}
