import type { WireGroup, WireLeaf } from '../../../../shared/domain/criteria/condition.ts'
import type { NamedMembersContext } from '../../../../shared/domain/criteria/evaluation-context.ts'
import type { AttributeType, ConditionSchema } from '../../../../shared/domain/criteria/schema.ts'
import type { SnapshotObject } from '../../../../shared/domain/tenant-index/rows/apply-objects.ts'
import { naiveAddDays, naiveInstant } from './naive-days.ts'

type Row = { identity?: SnapshotObject; orgUnit?: SnapshotObject; relationship?: SnapshotObject }
/** `zone`: the name of a time zone; undefined for UTC. */
type NaiveContext = NamedMembersContext & { readonly zone?: string }
type Context = NaiveContext & {
  readonly rows: readonly Row[]
  readonly live: readonly SnapshotObject[]
  readonly units: readonly SnapshotObject[]
}
type Value = string | number | readonly string[] | undefined

/**
 * The same language, from the stored form of a condition, row by row over plain objects: slow and plain to see through.
 */
export function naiveMembers(
  condition: WireGroup,
  schema: ConditionSchema,
  objects: readonly SnapshotObject[],
  objectType: 'Identity' | 'Relationship' | 'OrgUnit',
  context: NaiveContext,
): string[] {
  const part = ({ Identity: 'identity', Relationship: 'relationship', OrgUnit: 'orgUnit' } as const)[objectType]
  const members = new Set<string>()
  const live = objects.filter(({ deleted }) => !deleted)
  const units = live.filter(({ objectType }) => objectType === 'orgUnit')
  const rows = naiveRows(live)
  for (const row of rows) {
    const object = row[part]
    if (object !== undefined && holds(condition, row, schema, { ...context, rows, live, units })) members.add(object.id)
  }
  return [...members].sort()
}

export function naiveRows(objects: readonly SnapshotObject[]): Row[] {
  const live = objects.filter((object) => !object.deleted)
  const find = (type: string, id: string | undefined): SnapshotObject | undefined =>
    live.find((object) => object.objectType === type && object.id === id)
  const positions = live
    .filter(({ objectType }) => objectType === 'relationship')
    .map((relationship) => {
      const identity = find('identity', referred(relationship, 'identity'))
      const orgUnit = find('orgUnit', referred(relationship, 'orgUnit'))
      return { relationship, ...(identity && { identity }), ...(orgUnit && { orgUnit }) }
    })
  const identities = live.filter((o) => o.objectType === 'identity' && !positions.some((row) => row.identity === o))
  const orgUnits = live.filter((o) => o.objectType === 'orgUnit' && !positions.some((row) => row.orgUnit === o))
  return [...positions, ...identities.map((identity) => ({ identity })), ...orgUnits.map((orgUnit) => ({ orgUnit }))]
}

function referred(object: SnapshotObject, attribute: string): string | undefined {
  return (object.attributes[attribute] as { objectId: string } | undefined)?.objectId
}

function holds(node: WireGroup | WireLeaf, row: Row, schema: ConditionSchema, context: Context): boolean {
  if (!('groupOperator' in node)) return holdsLeaf(node, row, schema, context)
  if (node.over === 'AnyPosition') {
    const { over: _over, ...group } = node
    const ofPerson = context.rows.filter(({ identity }) => identity !== undefined && identity === row.identity)
    return ofPerson.some((other) => holds(group, other, schema, context))
  }
  const count = node.conditions.filter((child) => holds(child, row, schema, context)).length
  if (node.groupOperator === 'AND') return count === node.conditions.length
  if (node.groupOperator === 'OR') return count > 0
  return node.groupOperator === 'NOT' ? count === 0 : count === 1
}

function holdsLeaf(leaf: WireLeaf, row: Row, schema: ConditionSchema, context: Context): boolean {
  if (leaf.operator === 'NotEquals') return !holdsLeaf({ ...leaf, operator: 'Equals' }, row, schema, context)
  if (leaf.operator === 'NotContains') return !holdsLeaf({ ...leaf, operator: 'Contains' }, row, schema, context)
  if (typeof leaf.value === 'object' && 'attribute' in leaf.value) {
    return holdsWith(leaf.value.attribute, leaf, row, schema, context)
  }
  const wanted = [leaf.value].flat().map(String)
  if (leaf.id === 'memberOfCollection') return wanted.some((id) => isMember(id, row, context))
  const type = schema.get(leaf.id) as AttributeType
  const value = fieldValue(leaf.field, leaf.id, type, row, context)
  if (leaf.operator === 'IsNull') return value === undefined
  if (value === undefined) return false
  if (typeof value === 'object') {
    if (type !== 'StringList') return value.includes(wanted[0]?.toLowerCase() ?? '')
    return wanted.some((text) => value.includes(text.normalize('NFC').trim() || text))
  }
  const operands = wanted.map((text) => operand(text, type, context))
  if (leaf.operator === 'In') return operands.includes(value)
  return compare(leaf.operator, value, operands[0] as string | number)
}

/** Compares two attributes of the row. */
function holdsWith(other: string, leaf: WireLeaf, row: Row, schema: ConditionSchema, context: Context): boolean {
  const value = fieldValue(leaf.field, leaf.id, schema.get(leaf.id) as AttributeType, row, context)
  const wanted = attributeValue(other, schema.get(other) as AttributeType, row, context)
  if (value === undefined || wanted === undefined) return false
  if (typeof value === 'object') return value.includes(String(wanted))
  return compare(leaf.operator, value, wanted as string | number)
}

function compare(operator: WireLeaf['operator'], value: string | number, operand: string | number): boolean {
  const [points, wanted] = [[...String(value)], [...String(operand)]]
  const startsAt = (at: number): boolean => at >= 0 && wanted.every((point, index) => points[at + index] === point)
  switch (operator) {
    case 'Equals':
      return value === operand
    case 'Contains':
      return points.length >= wanted.length && Array.from({ length: points.length + 1 }, (_, at) => at).some(startsAt)
    case 'StartsWith':
      return startsAt(0)
    case 'EndsWith':
      return startsAt(points.length - wanted.length)
    case 'GreaterThan':
      return order(value, operand) > 0
    case 'GreaterThanOrEqual':
      return order(value, operand) >= 0
    case 'LessThan':
      return order(value, operand) < 0
    default:
      return order(value, operand) <= 0
  }
}

function order(left: string | number, right: string | number): number {
  if (typeof left === 'number') return left - (right as number)
  const [a, b] = [[...left], [...String(right)]].map((points) => points.map((point) => point.codePointAt(0) as number))
  for (let index = 0; ; index += 1) {
    const [x, y] = [a?.[index] ?? -1, b?.[index] ?? -1]
    if (x !== y) return x - y
    if (x === -1) return 0
  }
}

/** Reads the field from the inside out by recursion; the names in the tests hold no brackets. */
function fieldValue(field: string, id: string, type: AttributeType, row: Row, context: Context): Value {
  if (field === id) return attributeValue(id, type, row, context)
  if (field === 'Today()') return context.todayMs
  const [, name, inner, tail = ''] = /^(\w+)\((.*?)((?:,-?\d+)*)\)$/.exec(field) ?? []
  const value = fieldValue(inner as string, id, type, row, context)
  const numbers = tail.split(',').slice(1).map(Number)
  if (value === undefined) return undefined
  if (name === 'AddDays') return naiveAddDays(value as number, numbers[0] as number, context.zone)
  const text = String(value)
  if (name === 'ToUpper') return text.toUpperCase().normalize('NFC')
  if (name === 'ToLower') return text.toLowerCase().normalize('NFC')
  const [start, length] = numbers as [number, number]
  return Array.from(text)
    .filter((_, index) => index >= start && index < start + length)
    .join('')
}

/** The attributes that follow from others. */
function computedValue(id: string, row: Row, { todayMs, live, units, zone }: Context): Value | null {
  const listed = (ids: string[]) => (ids.length === 0 ? undefined : ids)
  const { identity, orgUnit, relationship } = row
  switch (id) {
    case 'relationshipIsActive': {
      const end = relationship?.attributes.endDate as string | undefined
      return relationship && String(end === undefined || naiveInstant(end, zone) >= todayMs)
    }
    case 'relationshipIsPrimary':
      return (
        relationship && String(identity !== undefined && referred(identity, 'primaryRelationship') === relationship.id)
      )
    case 'orgUnitWithAncestors': {
      const ids: string[] = []
      for (let unit = orgUnit; unit !== undefined && !ids.includes(unit.id); ) {
        ids.push(unit.id)
        const parent: string | undefined = referred(unit, 'parent')
        unit = units.find((other) => other.id === parent)
      }
      return listed(ids)
    }
    case 'identityManagedOrgUnits':
      return (
        identity && listed(units.filter((unit) => referred(unit, 'manager') === identity.id).map((unit) => unit.id))
      )
    case 'identityHasReports': {
      const person = (ref: string | undefined) =>
        live.find((candidate) => candidate.objectType === 'identity' && candidate.id === ref)?.id
      const reports = live.filter((position) => {
        const end = position.attributes.endDate as string | undefined
        if (position.objectType !== 'relationship' || (end !== undefined && naiveInstant(end, zone) < todayMs))
          return false
        const subject = referred(position, 'identity')
        const isOther = (manager: string | undefined) => manager !== undefined && manager !== subject
        const own = person(referred(position, 'manager'))
        if (isOther(own)) return own === identity?.id
        const seen = new Set<string>()
        let unit = units.find(({ id: unitId }) => unitId === referred(position, 'orgUnit'))
        while (unit !== undefined && !seen.has(unit.id)) {
          const manager = person(referred(unit, 'manager'))
          if (isOther(manager)) return manager === identity?.id
          seen.add(unit.id)
          const parent: string | undefined = referred(unit, 'parent')
          unit = units.find((other) => other.id === parent)
        }
        return false
      })
      return identity && String(reports.length > 0)
    }
    case 'identityDeputyOfOrgUnits':
      return (
        identity &&
        listed(
          units
            .filter(({ attributes }) =>
              (attributes.deputies as { objectId: string }[] | undefined)?.some(
                ({ objectId }) => objectId === identity.id,
              ),
            )
            .map((unit) => unit.id),
        )
      )
    default:
      return null
  }
}

function attributeValue(id: string, type: AttributeType, row: Row, context: Context): Value {
  const computed = computedValue(id, row, context)
  if (computed !== null) return computed
  const part = (['identity', 'orgUnit', 'relationship'] as const).find((prefix) => id.startsWith(prefix))
  const object = part === undefined ? row.identity : row[part]
  if (object === undefined) return undefined
  const name = part === undefined ? id : (id[part.length] as string).toLowerCase() + id.slice(part.length + 1)
  if (name === 'id') return object.id
  if (name === 'externalId') return object.externalId.normalize('NFC').trim()
  const value = object.attributes[name]
  if (value === undefined) return undefined
  if (name.startsWith('custom/')) return customValue(value, type, context)
  if (Array.isArray(value)) return value.map((each) => (typeof each === 'string' ? each : each.objectId).toLowerCase())
  const text = typeof value === 'object' ? (value as { objectId: string }).objectId : String(value)
  if (type === 'DateTime') return naiveInstant(text, context.zone)
  if (type === 'Guid') return text.toLowerCase()
  return text.normalize('NFC').trim()
}

/** The value of a custom attribute: stored as a text or a list of texts, and missing when it does not read as the type. */
function customValue(given: unknown, type: AttributeType, context: Context): Value {
  const texts = [given].flat().map((text) => String(text))
  if (type === 'StringList') return typeof given === 'string' ? [given.normalize('NFC').trim()] : texts
  if (texts.length !== 1) return undefined
  const text = (texts[0] as string).normalize('NFC').trim()
  switch (type) {
    case 'Integer':
      return /^[+-]?\d{1,16}$/.test(text) && Math.abs(Number(text)) < 2 ** 53 ? Number(text) : undefined
    case 'Boolean':
      return ['true', 'false'].find((word) => word === text.toLowerCase())
    case 'DateTime':
      return /^\d{4}-\d\d-\d\d(T.*)?$/.test(text) ? naiveInstant(text, context.zone) || undefined : undefined
    default:
      return text
  }
}

function operand(text: string, type: AttributeType, context: NaiveContext): string | number {
  if (type === 'Integer') return Number(text)
  if (type === 'Boolean') return text.toLowerCase()
  if (type === 'String') return text.normalize('NFC').trim() || text
  if (type !== 'DateTime') return text
  if (!text.includes('Today')) return naiveInstant(text, context.zone)
  return naiveAddDays(context.todayMs, Number(/,(-?\d+)\)/.exec(text)?.[1] ?? 0), context.zone)
}

function isMember(collectionId: string, row: Row, context: Context): boolean {
  const members = context.membersOf(collectionId)
  if (members === undefined) return false
  if (members.kind === 'joinable') {
    const isHeld = (identityId: string, relationshipId: string) =>
      context.rows.some(
        ({ identity, relationship }) => identity?.id === identityId && relationship?.id === relationshipId,
      )
    return members.memberships.some(
      ({ identityId, relationshipId }) =>
        identityId === row.identity?.id &&
        (relationshipId === null || relationshipId === row.relationship?.id || !isHeld(identityId, relationshipId)),
    )
  }
  const object = { Identity: row.identity, Relationship: row.relationship, OrgUnit: row.orgUnit }[members.objectType]
  return object !== undefined && members.ids.has(object.id)
}
