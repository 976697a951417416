import type { CoreObjectDto } from '../../../shared/domain/core/core-object-dto.ts'
import type { MembershipDto } from '../../../shared/domain/insight/list-memberships.ts'
import type { CallerDto } from '../../../shared/domain/object-access/read-caller.ts'
import { type Api, ApiRefusal } from '../api.ts'
import { coreNameOf, IDENTITIES, listPositions, type Position } from '../core-objects.ts'
import { namesOf } from '../object-names.ts'
import { isCollectionsAdministrator, isCoreAdministrator, isLeader } from '../session.ts'

export const MEMBERSHIPS = '/collections/beta/memberships'

/** What a page shows of a person. */
type Person = {
  readonly name: string
  /** Undefined for those who may not read this core object. */
  readonly core: CoreObjectDto | undefined
  readonly positions: readonly Position[]
  readonly positionIds: readonly string[]
}

/**
 * A person as far as the reader may. Leaders read the core objects of those whom they lead; administrators of collections
 * have the name and the memberships of everybody.
 */
export async function readPerson(id: string, reader: CallerDto, api: Api, signal: AbortSignal): Promise<Person> {
  if (!isCoreAdministrator(reader) && !isLeader(reader)) return readNamed(id, api, signal)
  try {
    return await readCore(id, api, signal)
  } catch (error) {
    const isHidden = error instanceof ApiRefusal && error.status === 404
    if (isHidden && isCollectionsAdministrator(reader)) return readNamed(id, api, signal)
    throw error
  }
}

async function readNamed(id: string, api: Api, signal: AbortSignal): Promise<Person> {
  const [names, memberships] = await Promise.all([
    namesOf(api, 'Identity', [id], signal),
    api.all<MembershipDto>(`${MEMBERSHIPS}?identityId=${id}`),
  ])
  const positionIds = [...new Set(memberships.flatMap(({ relationshipId }) => relationshipId ?? []))]
  return { name: names.get(id) ?? id, core: undefined, positions: [], positionIds }
}

async function readCore(id: string, api: Api, signal: AbortSignal): Promise<Person> {
  const [{ data: core }, positions] = await Promise.all([
    api.send<CoreObjectDto>('GET', `${IDENTITIES}/${id}`, { signal }),
    listPositions(id, api),
  ])
  return { name: coreNameOf(core), core, positions, positionIds: positions.map((position) => position.id) }
}
