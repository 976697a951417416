import { COLLECTIONS, LINKS, SETTINGS } from '../../../infra/definitions/tenant.ts'
import { type ApiCall, ApiRefusal } from '../../../infra/import/api-connection.ts'
import type { Random } from '../../../infra/local/demo/seeded-random.ts'
import { type DefinitionsTenant, GROUP_NAMES, TITLES } from './definitions-tenant.ts'
import { objectTypeOf } from './random-definitions.ts'

const titled = (title: string) => ({
  groupOperator: 'AND',
  conditions: [{ id: 'relationshipTitle', field: 'relationshipTitle', operator: 'Equals', value: title }],
})

/** Something that another person does meanwhile. The API may refuse it. */
export async function interfere({ call, people, groupIds, read }: DefinitionsTenant, random: Random): Promise<void> {
  const { collections, links } = await read()
  const collection = collections[random.below(collections.length)]
  const link = links[random.below(links.length)]
  const kind = random.below(9)
  const condition = titled(random.pick(TITLES))
  if (kind === 0) {
    const name = `C${random.below(5)}`
    await tried(call('POST', COLLECTIONS.criteria, { objectType: objectTypeOf(name), name, condition }))
  } else if (kind === 1) {
    await tried(call('PATCH', SETTINGS, { removalGuard: { minimum: random.below(3) } }))
  } else if (kind === 2 && collection !== undefined) {
    const body = { collectionId: collection.id, directoryGroupId: groupIds.get(random.pick(GROUP_NAMES)) }
    await tried(call('POST', LINKS, body))
  } else if (kind < 5 && link !== undefined) {
    const state = link.state === 'Enabled' ? 'Disabled' : 'Enabled'
    await tried(kind === 3 ? call('DELETE', `${LINKS}/${link.id}`) : call('PATCH', `${LINKS}/${link.id}`, { state }))
  } else if (collection !== undefined) {
    const { id, kind: ofKind, objectType } = collection
    const path = `${COLLECTIONS[ofKind]}/${id}`
    if (kind === 5) await tried(call('DELETE', path))
    else if (kind === 6) await tried(call('PUT', path, { objectType, description: `By others ${random.below(9)}` }))
    else if (ofKind === 'criteria') await tried(call('PUT', path, { objectType, condition }))
    else {
      const coreIdentityIds = [random.pick(people)]
      await tried(call(random.percent(60) ? 'POST' : 'DELETE', `${path}/results/members`, { coreIdentityIds }))
    }
  }
}

/** Leaves one collection of each name: files cannot say which of several they mean. */
export async function removeSameNames({ call, read }: DefinitionsTenant): Promise<void> {
  const { collections, links } = await read()
  for (const same of Map.groupBy(collections, ({ name }) => name).values()) {
    const isUsed = (id: string) => collections.some(({ definition }) => JSON.stringify(definition).includes(id))
    const surplus = same.toSorted((left, right) => Number(isUsed(left.id)) - Number(isUsed(right.id))).slice(0, -1)
    for (const { id, kind } of surplus) {
      for (const link of links) if (link.collectionId === id) await call('DELETE', `${LINKS}/${link.id}`)
      await tried(call('DELETE', `${COLLECTIONS[kind]}/${id}`))
    }
  }
}

async function tried(request: ReturnType<ApiCall>): Promise<void> {
  await request.catch((error: unknown) => {
    if (!(error instanceof ApiRefusal) || error.status >= 500) throw error
  })
}
