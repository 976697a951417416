import type { CoreObjectDto } from '../../shared/domain/core/core-object-dto.ts'
import { isActive, referenceId, textOf } from './core-objects.ts'

/** The core objects that a person can read. */
type Readable = {
  readonly relationships: readonly CoreObjectDto[]
  readonly identities: readonly CoreObjectDto[]
  readonly units: readonly CoreObjectDto[]
}

/**
 * The active positions of others whose manager is the person: the manager of the position, else of its unit, else of the
 * nearest unit above that has one. A deputy of a unit does not manage it.
 * @param zone undefined for the browser's.
 */
export function ledPositions(
  ownId: string,
  { relationships, identities, units }: Readable,
  nowMs: number,
  zone: string | undefined,
): readonly CoreObjectDto[] {
  const people = new Set(identities.map(({ id }) => id))
  const unitsById = new Map(units.map((unit) => [unit.id, unit]))
  /** A manager who cannot be read may be deleted. The API then asks the next one, and so decides. */
  const managerOf = (object: CoreObjectDto, holderId: string): string | undefined => {
    const id = referenceId(object.manager)
    return id === undefined || id === holderId || !people.has(id) ? undefined : id
  }
  return relationships.filter((position) => {
    const holderId = referenceId(position.identity)
    if (holderId === undefined || holderId === ownId || !isActive(textOf(position.endDate), nowMs, zone)) return false
    let manager = managerOf(position, holderId)
    const above = new Set<CoreObjectDto>()
    let unit = unitsById.get(referenceId(position.orgUnit) ?? '')
    while (manager === undefined && unit !== undefined && !above.has(unit)) {
      above.add(unit)
      manager = managerOf(unit, holderId)
      unit = unitsById.get(referenceId(unit.parent) ?? '')
    }
    return manager === ownId
  })
}
