import type { DatabaseSync } from 'node:sqlite'
import type { DirectorySeed, TenantSeed } from './seed.ts'
import { atomically } from './state.ts'

export type DirectoryType = 'user' | 'group' | 'servicePrincipal'
export type Properties = Readonly<Record<string, unknown>>

export type DirectoryObject = {
  /** Increasing key for paging. */
  readonly key: number
  readonly id: string
  readonly type: DirectoryType
  /** All properties except the ID. */
  readonly properties: Properties
}

export type NewObject = { readonly id: string; readonly type: DirectoryType; readonly properties: Properties }

type Row = { key: number; id: string; type: DirectoryType; properties: string }

/** Thrown by `add` and `replace` for a duplicate user principal name in a tenant. */
export class NameTaken extends Error {}

const read = (row: unknown): DirectoryObject | undefined =>
  row === undefined ? undefined : { ...(row as Row), properties: JSON.parse((row as Row).properties) as Properties }

export type DirectoryObjects = ReturnType<typeof directoryObjects>

/** Users, groups, service principals and memberships of all tenants. Each call has a tenant or a key. */
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

    /** Also removes its memberships and members. */
    remove(object: DirectoryObject): void {
      atomically(database, () => {
        statements.removeMemberships.run(object.key, object.key)
        statements.removeOwnerships.run(object.key, object.key)
        statements.remove.run(object.key)
      })
    },

    /** Objects of a type after a key, in order of creation. */
    list: (tenantId: string, type: DirectoryType, afterKey: number, count: number) =>
      statements.list.all(tenantId, type, afterKey, count).map((row) => read(row) as DirectoryObject),

    /** Objects whose display name starts with a text. */
    namedLike: (tenantId: string, type: DirectoryType, start: string, afterKey: number, count: number) =>
      statements.namedLike
        .all(tenantId, type, `${start.replaceAll(/[\\%_]/g, '\\$&')}%`, afterKey, count)
        .map((row) => read(row) as DirectoryObject),

    userCount: (tenantId: string) => Number((statements.count.get(tenantId, 'user') as { count: number }).count),

    /** The groups that have an object as a direct member. */
    listGroupsOf: (member: DirectoryObject, afterKey: number, count: number) =>
      statements.listGroupsOf.all(member.key, afterKey, count).map((row) => read(row) as DirectoryObject),

    /** Members after a key. Excludes service principals, like Graph v1.0. */
    listMembers: (group: DirectoryObject, afterKey: number, count: number) =>
      statements.listMembers.all(group.key, afterKey, count).map((row) => read(row) as DirectoryObject),

    /** Members that `listMembers` excludes. */
    listServicePrincipals: (group: DirectoryObject, afterKey: number, count: number) =>
      statements.listServicePrincipals.all(group.key, afterKey, count).map((row) => read(row) as DirectoryObject),

    /** Like `listMembers`, with empty properties. */
    listMemberIds: (group: DirectoryObject, afterKey: number, count: number) =>
      statements.listMemberIds.all(group.key, afterKey, count).map((row) => ({ ...(row as Row), properties: {} })),

    /** Owners after a key. Excludes service principals, like Graph v1.0. */
    listOwners: (group: DirectoryObject, afterKey: number, count: number) =>
      statements.listOwners.all(group.key, afterKey, count).map((row) => read(row) as DirectoryObject),

    isOwner: (group: DirectoryObject, owner: DirectoryObject) =>
      statements.isOwner.get(group.key, owner.key) !== undefined,

    /** False if it is already an owner. */
    addOwner: (group: DirectoryObject, owner: DirectoryObject) =>
      statements.addOwner.run(group.key, owner.key).changes === 1,

    /** False if it is not an owner. */
    removeOwner: (group: DirectoryObject, owner: DirectoryObject) =>
      statements.removeOwner.run(group.key, owner.key).changes === 1,

    /** False if it is already a member. */
    addMember: (group: DirectoryObject, member: DirectoryObject) =>
      statements.addMember.run(group.key, member.key).changes === 1,

    /** False if it is not a member. */
    removeMember: (group: DirectoryObject, member: DirectoryObject) =>
      statements.removeMember.run(group.key, member.key).changes === 1,

    setting: (name: string) => (statements.setting.get(name) as { value: string } | undefined)?.value,

    keepSetting: (name: string, value: string) => void statements.keepSetting.run(name, value),

    /** Adds objects that no earlier start has added, so that changes and deletions are kept. */
    plant(seed: DirectorySeed): void {
      atomically(database, () => {
        for (const tenant of seed.tenants) plantTenant(tenant)
      })
    },
  }

  /** Skips a user principal name that another user has. */
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
    // Adds all groups first: a member can be a later group.
    const newGroups = tenant.groups.filter(({ id }) => isNew(id))
    for (const { id, displayName, properties } of newGroups) {
      add(tenant.tenantId, { id, type: 'group', properties: { displayName, ...properties } })
    }
    for (const { id, memberIds, ownerIds = [] } of newGroups) {
      for (const memberId of memberIds) statements.plantMember.run(tenant.tenantId, id, tenant.tenantId, memberId)
      for (const ownerId of ownerIds) statements.plantOwner.run(tenant.tenantId, id, tenant.tenantId, ownerId)
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
  const memberOf = (operator: '<>' | '=') => `FROM members JOIN objects ON objects.key = members.member_key
    WHERE members.group_key = ? AND members.member_key > ? AND objects.type ${operator} 'servicePrincipal'
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
    namedLike: database.prepare(
      `${row} WHERE tenant_id = ? AND type = ? AND display_name LIKE ? ESCAPE '\\' AND key > ? ORDER BY key LIMIT ?`,
    ),
    count: database.prepare('SELECT count(*) AS count FROM objects WHERE tenant_id = ? AND type = ?'),
    listGroupsOf: database.prepare(`SELECT objects.key, objects.id, objects.type, objects.properties
      FROM members JOIN objects ON objects.key = members.group_key
      WHERE members.member_key = ? AND members.group_key > ? ORDER BY members.group_key LIMIT ?`),
    listMembers: database.prepare(`SELECT key, id, type, properties ${memberOf('<>')}`),
    listServicePrincipals: database.prepare(`SELECT key, id, type, properties ${memberOf('=')}`),
    listMemberIds: database.prepare(`SELECT key, id, type ${memberOf('<>')}`),
    addMember: database.prepare('INSERT OR IGNORE INTO members VALUES (?, ?)'),
    removeMember: database.prepare('DELETE FROM members WHERE group_key = ? AND member_key = ?'),
    plantMember: database.prepare(`INSERT OR IGNORE INTO members
      SELECT groups.key, member.key FROM (${key}) groups, (${key}) member`),
    listOwners: database.prepare(`SELECT objects.key, objects.id, objects.type, objects.properties
      FROM owners JOIN objects ON objects.key = owners.owner_key
      WHERE owners.group_key = ? AND owners.owner_key > ? AND objects.type <> 'servicePrincipal'
      ORDER BY owners.owner_key LIMIT ?`),
    isOwner: database.prepare('SELECT 1 FROM owners WHERE group_key = ? AND owner_key = ?'),
    addOwner: database.prepare('INSERT OR IGNORE INTO owners VALUES (?, ?)'),
    removeOwner: database.prepare('DELETE FROM owners WHERE group_key = ? AND owner_key = ?'),
    removeOwnerships: database.prepare('DELETE FROM owners WHERE group_key = ? OR owner_key = ?'),
    plantOwner: database.prepare(`INSERT OR IGNORE INTO owners
      SELECT groups.key, owner.key FROM (${key}) groups, (${key}) owner`),
    markSeeded: database.prepare('INSERT OR IGNORE INTO seeded VALUES (?, ?)'),
    setting: database.prepare('SELECT value FROM settings WHERE name = ?'),
    keepSetting: database.prepare('INSERT OR REPLACE INTO settings VALUES (?, ?)'),
  }
}
