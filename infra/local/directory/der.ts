/** The Distinguished Encoding Rules (ITU-T X.690) for certificates. */

const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  objectIdentifier: 0x06,
  utf8String: 0x0c,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const

/** One value with its tag and its length in the shortest form. X.690, section 8.1. */
function encoded(tag: number, content: Buffer): Buffer {
  if (content.length < 0x80) return Buffer.concat([Buffer.from([tag, content.length]), content])
  const digits = content.length.toString(16)
  const length = Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex')
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, content])
}

// X.690, sections 8.9, 8.11, 8.7, 8.23 and 8.2: a tag and the content.
export const sequence = (...items: Buffer[]): Buffer => encoded(TAG.sequence, Buffer.concat(items))
export const set = (...items: Buffer[]): Buffer => encoded(TAG.set, Buffer.concat(items))
export const octetString = (content: Buffer): Buffer => encoded(TAG.octetString, content)
export const utf8String = (text: string): Buffer => encoded(TAG.utf8String, Buffer.from(text))
export const boolean = (value: boolean): Buffer => encoded(TAG.boolean, Buffer.from([value ? 0xff : 0]))

/** A bit string. `unusedBits` is the number of unused bits in the last byte. */
export const bitString = (content: Buffer, unusedBits = 0): Buffer =>
  encoded(TAG.bitString, Buffer.concat([Buffer.from([unusedBits]), content]))

/** A non-negative integer from its big-endian bytes. */
export function integer(bytes: Buffer): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0)
  const shortest = first === -1 ? Buffer.from([0]) : bytes.subarray(first)
  const negative = ((shortest[0] ?? 0) & 0x80) !== 0
  return encoded(TAG.integer, negative ? Buffer.concat([Buffer.from([0]), shortest]) : shortest)
}

/** From the dotted form: `2.5.29.17`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second, ...rest].flatMap((arc) => {
    const septets = [arc & 0x7f]
    for (let left = arc >>> 7; left > 0; left >>>= 7) septets.unshift((left & 0x7f) | 0x80)
    return septets
  })
  return encoded(TAG.objectIdentifier, Buffer.from(bytes))
}

/** A date of a certificate: two-digit year before 2050, four digits from 2050. RFC 5280, section 4.1.2.5. */
export function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().slice(0, 19).replace(/\D/g, '')}Z`
  const isShort = digits < '2050'
  return encoded(isShort ? TAG.utcTime : TAG.generalizedTime, Buffer.from(isShort ? digits.slice(2) : digits))
}

/** `[number] EXPLICIT`, or a constructed implicit tag. */
export const tagged = (number: number, content: Buffer): Buffer => encoded(0xa0 | number, content)

/** `[number] IMPLICIT` over a primitive value's content. */
export const taggedPrimitive = (number: number, content: Buffer): Buffer => encoded(0x80 | number, content)
