import { type DuckDBConnection, DuckDBDateValue, DuckDBInstance } from '@duckdb/node-api'
import jsonLogic from 'json-logic-js'
import { DAY_MS } from '../../../shared/kernel/timestamp.ts'
import { type FIVE_LEAVES, flatRows, type Row, type TenantSize } from './generated-tenant.ts'

export type ConditionName = keyof typeof FIVE_LEAVES

/** Rows in each call: a million objects at once would slow down what is measured. */
const ROWS_PER_PART_COUNT = 20_000

/** `FIVE_LEAVES` as SQL over one wide table, which spares DuckDB the joins. */
const SQL: Record<ConditionName, string> = {
  narrow: `starts_with(title, 'Nurse') AND type = 'permanent' AND countryCode = 'SE'
    AND orgUnitType IN ('hospital', 'office') AND startDate < DATE '2025-02-11'`,
  wide: `employeeId IS DISTINCT FROM 'E0000001' AND contains(email, '@example.org')
    AND NOT coalesce(contains(displayName, 'zz'), false) AND ends_with(orgUnitName, 'department')
    AND officeLocation >= 'A'`,
  mixed: `(contains(lower(displayName), 'berg') AND endDate IS NULL)
    OR (orgUnitType IS DISTINCT FROM 'school' AND type IS DISTINCT FROM 'permanent') OR synced = true`,
}

const value = (name: keyof Row) => ({ var: name })

/** The conditions as rules of json-logic. Days compare as text. */
const RULES: Record<ConditionName, object> = {
  narrow: {
    and: [
      { startsWith: [value('title'), 'Nurse'] },
      { '===': [value('type'), 'permanent'] },
      { '===': [value('countryCode'), 'SE'] },
      { in: [value('orgUnitType'), ['hospital', 'office']] },
      { '<': [value('startDate'), '2025-02-11'] },
    ],
  },
  wide: {
    and: [
      { '!==': [value('employeeId'), 'E0000001'] },
      { in: ['@example.org', value('email')] },
      { '!': { in: ['zz', value('displayName')] } },
      { endsWith: [value('orgUnitName'), 'department'] },
      { '>=': [value('officeLocation'), 'A'] },
    ],
  },
  mixed: {
    or: [
      { and: [{ in: ['berg', { lower: [value('displayName')] }] }, { '===': [value('endDate'), null] }] },
      {
        and: [{ '!': { '===': [value('orgUnitType'), 'school'] } }, { '!': { '===': [value('type'), 'permanent'] } }],
      },
      { '===': [value('synced'), true] },
    ],
  },
}

jsonLogic.add_operation('startsWith', (text: string | null, start: string) => text?.startsWith(start) ?? false)
jsonLogic.add_operation('endsWith', (text: string | null, end: string) => text?.endsWith(end) ?? false)
jsonLogic.add_operation('lower', (text: string | null) => text?.toLowerCase() ?? null)

/** DuckDB with the tenant's rows in memory. */
export type Duck = {
  /** Ids of the members, in no order. */
  members(name: ConditionName): Promise<string[]>
  /** How many there are, which spares handing them over. */
  count(name: ConditionName): Promise<number>
  close(): void
}

export async function openDuck(size: TenantSize): Promise<Duck> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await load(connection, size)
  return {
    async members(name) {
      const result = await connection.run(`SELECT id FROM rows WHERE ${SQL[name]}`)
      const ids: string[] = []
      for (const chunk of await result.fetchAllChunks())
        for (const id of chunk.getColumnValues(0)) ids.push(id as string)
      return ids
    },
    async count(name) {
      const reader = await connection.runAndReadAll(`SELECT count(*) FROM rows WHERE ${SQL[name]}`)
      return Number(reader.getRows()[0]?.[0])
    },
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

const TEXT_COLUMNS = [
  'id',
  'title',
  'type',
  'employeeId',
  'officeLocation',
  'countryCode',
  'email',
  'displayName',
  'orgUnitType',
  'orgUnitName',
] as const satisfies (keyof Row)[]

async function load(connection: DuckDBConnection, size: TenantSize): Promise<void> {
  const columns = TEXT_COLUMNS.map((name) => `${name} VARCHAR`).join(', ')
  await connection.run(`CREATE TABLE rows (${columns}, startDate DATE, endDate DATE, synced BOOLEAN)`)
  const appender = await connection.createAppender('rows')
  for (const row of flatRows(size)) {
    for (const name of TEXT_COLUMNS) appender.appendVarchar(row[name])
    for (const day of [row.startDate, row.endDate]) {
      if (day === null) appender.appendNull()
      else appender.appendDate(new DuckDBDateValue(Date.parse(day) / DAY_MS))
    }
    appender.appendBoolean(row.synced)
    appender.endRow()
  }
  appender.closeSync()
}

/** What json-logic answers row by row: the members, and the milliseconds that deciding alone took. */
export function jsonLogicMembers(size: TenantSize): Record<ConditionName, { ids: string[]; tookMs: number }> {
  const answers = {
    narrow: { ids: [] as string[], tookMs: 0 },
    wide: { ids: [] as string[], tookMs: 0 },
    mixed: { ids: [] as string[], tookMs: 0 },
  }
  let part: Row[] = []
  const decide = (): void => {
    for (const [name, answer] of Object.entries(answers)) {
      const logic = RULES[name as ConditionName]
      const startedMs = performance.now()
      for (const row of part) if (jsonLogic.apply(logic, row)) answer.ids.push(row.id)
      answer.tookMs += performance.now() - startedMs
    }
    part = []
  }
  for (const row of flatRows(size)) {
    part.push(row)
    if (part.length === ROWS_PER_PART_COUNT) decide()
  }
  decide()
  return answers
}
