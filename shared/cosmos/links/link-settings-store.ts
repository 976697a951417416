import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import { DEFAULT_LINK_SETTINGS, LinkSettings, type LinkSettingsStore } from '../../domain/group-links/link-settings.ts'
import type { Versioned } from '../../kernel/versioned.ts'
import { documentParser, versionedDocumentParser } from '../document-parser.ts'
import { createUnlessExists, queryPartitions, readDocument, sqlParameters, writeOf } from '../documents.ts'
import { writeAudited } from './link-writes.ts'

/** Id of the document with the tenant's settings, in the partition of its links: one request reads both. */
export const SETTINGS_ID = 'settings'

const settingsParser = versionedDocumentParser('record of link settings', LinkSettings, {
  fourEyes: false,
  timeZone: DEFAULT_LINK_SETTINGS.timeZone,
  operators: [],
  language: 'en',
})

const parseZone = documentParser(
  'time zone of a tenant',
  Type.Object({ tenantId: Type.String(), timeZone: Type.String() }),
)

/** The version of default settings that are not stored. */
const NOT_STORED = ''

/** Container `links`: one document in the partition of each tenant. */
export function cosmosLinkSettingsStore(links: Container): LinkSettingsStore {
  const known = new Set<string>()
  return {
    async register(tenantId) {
      if (known.has(tenantId)) return
      await createUnlessExists(links, { ...DEFAULT_LINK_SETTINGS, id: SETTINGS_ID, tenantId })
      known.add(tenantId)
    },
    async find(tenantId) {
      return settingsOf(await readDocument<object>(links, SETTINGS_ID, tenantId))
    },
    async replace(tenantId, settings, version, audit) {
      const operation = writeOf({ ...settings, id: SETTINGS_ID, tenantId }, version)
      const codes = { 412: 'StaleVersion', 404: 'StaleVersion' } as const
      await writeAudited(links, [operation], audit, { tenantId }, codes)
      return settings
    },
    async timeZones() {
      const query = 'SELECT c.tenantId, c.timeZone FROM c WHERE c.id = @id AND c.timeZone != @utc'
      const parameters = sqlParameters({ id: SETTINGS_ID, utc: DEFAULT_LINK_SETTINGS.timeZone })
      const found = await queryPartitions<object>(links, { query, parameters })
      return new Map(found.map(parseZone).map(({ tenantId, timeZone }) => [tenantId, timeZone]))
    },
  }
}

/** The settings of a document; the defaults where none is stored. */
export function settingsOf(document: object | undefined): Versioned<LinkSettings> {
  return document === undefined ? { value: DEFAULT_LINK_SETTINGS, version: NOT_STORED } : settingsParser.parse(document)
}
