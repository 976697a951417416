import type { DatabaseSync } from 'node:sqlite'
import type { DirectorySeed, TenantSeed } from './seed.ts'
import { atomically } from './state.ts'

export type DirectoryType = 'user' | 'group' | 'servicePrincipal'
export type Properties = Readonly<Record<string, unknown>>

export type DirectoryObject = {
  /** Grows with time; pages are cut by it. */
  readonly key: number
  readonly id: string
  readonly type: DirectoryType
  /** Everything but the id. */
  readonly properties: Properties
}

export type NewObject = { readonly id: string; readonly type: DirectoryType; readonly properties: Properties }

type Row = { key: number; id: string; type: DirectoryType; properties: string }

/** Thrown by `add` and `replace`: two users of a tenant cannot share a user principal name. */
export class NameTaken extends Error {}

const read = (row: unknown): DirectoryObject | undefined =>
  row === undefined ? undefined : { ...(row as Row), properties: JSON.parse((row as Row).properties) as Properties }

export type DirectoryObjects = ReturnType<typeof directoryObjects>

/** Users, groups, service principals and memberships of all tenants; every call names its tenant or starts from a key. */
export function directoryObjects(database: DatabaseSync) {
  const statements = prepare(database)

  function add(tenantId: string, object: NewObject): void {
    namesKept(() => statements.add.run(tenantId, object.id, object.type, ...columns(object.properties)))
  }

  return {
    add,

    atomically: <T>(work: () => T): T => atomically(database, work),

    find: (tenantId: string, id: string) => read(statements.find.get(tenantId, id.toLowerCase())),

    findByUserPrincipalName: (tenantId: string, name: string) => read(statements.findByName.get(tenantId, name)),

    replace(object: DirectoryObject, properties: Properties): void {
      namesKept(() => statements.replace.run(...columns(properties), object.key))
    },

    /** Ends its memberships on both sides as well. */
    remove(object: DirectoryObject): void {
      atomically(database, () => {
        statements.removeMemberships.run(object.key, object.key)
        statements.remove.run(object.key)
      })
    },

    /** Objects of a type after a key, in the order of their creation. */
    list: (tenantId: string, type: DirectoryType, afterKey: number, count: number) =>
      statements.list.all(tenantId, type, afterKey, count).map((row) => read(row) as DirectoryObject),

    named: (tenantId: string, type: DirectoryType, displayName: string, afterKey: number, count: number) =>
      statements.named.all(tenantId, type, displayName, afterKey, count).map((row) => read(row) as DirectoryObject),

    userCount: (tenantId: string) => Number((statements.count.get(tenantId, 'user') as { count: number }).count),

    /** Members after a key. Service principals are left out, as version 1.0 of Graph does. */
    listMembers: (group: DirectoryObject, afterKey: number, count: number) =>
      statements.listMembers.all(group.key, afterKey, count).map((row) => read(row) as DirectoryObject),

    /** As `listMembers`, without reading the properties: they are empty. */
    listMemberIds: (group: DirectoryObject, afterKey: number, count: number) =>
      statements.listMemberIds.all(group.key, afterKey, count).map((row) => ({ ...(row as Row), properties: {} })),

    /** False when it is a member already. */
    addMember: (group: DirectoryObject, member: DirectoryObject) =>
      statements.addMember.run(group.key, member.key).changes === 1,

    /** False when it is not a member. */
    removeMember: (group: DirectoryObject, member: DirectoryObject) =>
      statements.removeMember.run(group.key, member.key).changes === 1,

    setting: (name: string) => (statements.setting.get(name) as { value: string } | undefined)?.value,

    keepSetting: (name: string, value: string) => void statements.keepSetting.run(name, value),

    /** Adds what no earlier start has added: what was changed or deleted since stays so. */
    plant(seed: DirectorySeed): void {
      atomically(database, () => {
        for (const tenant of seed.tenants) plantTenant(tenant)
      })
    },
  }

  /** A name that somebody has taken since stays theirs. */
  function plantObject(tenantId: string, object: NewObject): void {
    try {
      add(tenantId, object)
    } catch (error) {
      if (!(error instanceof NameTaken)) throw error
    }
  }

  function plantTenant(tenant: TenantSeed): void {
    const isNew = (id: string) => statements.markSeeded.run(tenant.tenantId, id).changes === 1
    for (const object of seededObjects(tenant)) if (isNew(object.id)) plantObject(tenant.tenantId, object)
    // Groups before memberships: a member may be a group further down.
    const newGroups = tenant.groups.filter(({ id }) => isNew(id))
    for (const { id, displayName, properties } of newGroups) {
      add(tenant.tenantId, { id, type: 'group', properties: { displayName, ...properties } })
    }
    for (const { id, memberIds } of newGroups) {
      for (const memberId of memberIds) statements.plantMember.run(tenant.tenantId, id, tenant.tenantId, memberId)
    }
  }
}

function* seededObjects(tenant: TenantSeed): Generator<NewObject> {
  for (const { objectId, name, clientId } of tenant.applications) {
    yield { id: objectId, type: 'servicePrincipal', properties: { displayName: name, appId: clientId } }
  }
  for (const { objectId, displayName, username } of tenant.people) {
    yield { id: objectId, type: 'user', properties: { displayName, userPrincipalName: username, mail: username } }
  }
  for (const { id, ...properties } of tenant.users) yield { id, type: 'user', properties }
}

const columns = (properties: Properties): [string, string | null, string] => {
  const name = properties.userPrincipalName
  return [String(properties.displayName ?? ''), typeof name === 'string' ? name : null, JSON.stringify(properties)]
}

function namesKept(write: () => unknown): void {
  try {
    write()
  } catch (cause) {
    if (cause instanceof Error && cause.message.includes('objects.user_principal_name')) {
      throw new NameTaken(cause.message, { cause })
    }
    throw cause
  }
}

function prepare(database: DatabaseSync) {
  const row = 'SELECT key, id, type, properties FROM objects'
  const memberOf = `FROM members JOIN objects ON objects.key = members.member_key
    WHERE members.group_key = ? AND members.member_key > ? AND objects.type <> 'servicePrincipal'
    ORDER BY members.member_key LIMIT ?`
  const key = 'SELECT key FROM objects WHERE tenant_id = ? AND id = ?'
  return {
    add: database.prepare(
      'INSERT INTO objects (tenant_id, id, type, display_name, user_principal_name, properties) VALUES (?, ?, ?, ?, ?, ?)',
    ),
    find: database.prepare(`${row} WHERE tenant_id = ? AND id = ?`),
    findByName: database.prepare(`${row} WHERE tenant_id = ? AND user_principal_name = ?`),
    replace: database.prepare(
      'UPDATE objects SET display_name = ?, user_principal_name = ?, properties = ? WHERE key = ?',
    ),
    remove: database.prepare('DELETE FROM objects WHERE key = ?'),
    removeMemberships: database.prepare('DELETE FROM members WHERE group_key = ? OR member_key = ?'),
    list: database.prepare(`${row} WHERE tenant_id = ? AND type = ? AND key > ? ORDER BY key LIMIT ?`),
    named: database.prepare(
      `${row} WHERE tenant_id = ? AND type = ? AND display_name = ? AND key > ? ORDER BY key LIMIT ?`,
    ),
    count: database.prepare('SELECT count(*) AS count FROM objects WHERE tenant_id = ? AND type = ?'),
    listMembers: database.prepare(`SELECT key, id, type, properties ${memberOf}`),
    listMemberIds: database.prepare(`SELECT key, id, type ${memberOf}`),
    addMember: database.prepare('INSERT OR IGNORE INTO members VALUES (?, ?)'),
    removeMember: database.prepare('DELETE FROM members WHERE group_key = ? AND member_key = ?'),
    plantMember: database.prepare(`INSERT OR IGNORE INTO members
      SELECT groups.key, member.key FROM (${key}) groups, (${key}) member`),
    markSeeded: database.prepare('INSERT OR IGNORE INTO seeded VALUES (?, ?)'),
    setting: database.prepare('SELECT value FROM settings WHERE name = ?'),
    keepSetting: database.prepare('INSERT OR REPLACE INTO settings VALUES (?, ?)'),
  }
}
