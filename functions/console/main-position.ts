type NamedPosition = {
  readonly id: string
  readonly externalId: string
  readonly title: string | undefined
  readonly unit: string | undefined
}

/**
 * The position that a source names as the main one of a person, to read: its title and unit; the id in the source for a
 * position that is unknown or has neither.
 * @param usedId The id of the position if the person has the value of this source.
 */
export function mainPositionText(
  externalId: string,
  usedId: string | undefined,
  positions: readonly NamedPosition[],
): string {
  const position = positions.find((held) =>
    usedId === undefined ? held.externalId === externalId : held.id === usedId,
  )
  const parts = [position?.title, position?.unit].filter((part) => part !== undefined)
  return parts.length === 0 ? externalId : parts.join(', ')
}
