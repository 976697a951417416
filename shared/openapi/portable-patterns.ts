import type { Json, JsonObject } from '../kernel/json.ts'

/**
 * Rewrites patterns with classes of Unicode (`\p{L}`), which Python and other languages refuse. JSON in UTF-8 has no
 * unpaired surrogates, so that `\p{Cs}` is left out; a pattern with another class is left out as a whole.
 */
export function withPortablePatterns(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => portableMember(name, member)))
}

function portableMember(name: string, value: Json): [string, Json][] {
  if (name === 'pattern' && typeof value === 'string') {
    const pattern = value.replaceAll('\\p{Cs}', '')
    return pattern.includes('\\p{') ? [] : [[name, pattern]]
  }
  return [[name, portable(value)]]
}

function portable(value: Json): Json {
  if (Array.isArray(value)) return value.map((item: Json) => portable(item))
  return typeof value === 'object' && value !== null ? withPortablePatterns(value as JsonObject) : value
}
