/** An invalid request to `/local/...`, answered with 400 and this message. */
export class ControlRefusal extends Error {}

/** @throws ControlRefusal unless the body is a JSON object with these members only */
export function controlBody(body: unknown, members: readonly string[]): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw new ControlRefusal('The body must be a JSON object')
  }
  const unknown = Object.keys(body).find((name) => !members.includes(name))
  if (unknown !== undefined) throw new ControlRefusal(`Unknown member ${unknown}. Use ${members.join(', ')}`)
  return body as Record<string, unknown>
}
