const GUID_BYTES = 16

/** GUIDs in base64, 16 bytes each: half as long as a JSON list. */
export function packedGuids(guids: readonly string[]): string {
  return Buffer.from(guids.join('').replaceAll('-', ''), 'hex').toString('base64')
}

/** The GUIDs in lower case, in their order. */
export function unpackedGuids(packed: string): string[] {
  const bytes = Buffer.from(packed, 'base64')
  return Array.from({ length: bytes.length / GUID_BYTES }, (_, index) => {
    const digits = bytes.toString('hex', index * GUID_BYTES, (index + 1) * GUID_BYTES)
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
  })
}
