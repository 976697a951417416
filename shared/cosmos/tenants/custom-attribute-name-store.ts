import type { Container } from '@azure/cosmos'
import { Type } from 'typebox'
import type { CustomAttributeNameStore } from '../../domain/connectors/custom-attribute-names.ts'
import { versionedDocumentParser } from '../document-parser.ts'
import { readDocument, saveCurrent } from '../documents.ts'

/** Id of the document, beside the tenant's registration. */
const NAMES_ID = 'custom-attributes'

const Names = Type.Array(Type.String())
const parser = versionedDocumentParser(
  'list of custom attributes',
  Type.Object({ customAttributes: Type.Object({ identity: Names, orgUnit: Names, relationship: Names }) }),
)

/** Container `tenants`: partition key `/tenantId`. */
export function cosmosCustomAttributeNameStore(tenants: Container): CustomAttributeNameStore {
  return {
    async find(tenantId) {
      const document = await readDocument(tenants, NAMES_ID, tenantId)
      if (document === undefined) return undefined
      const { value, version } = parser.parse(document)
      return { value: value.customAttributes, version }
    },
    async save(tenantId, customAttributes, version) {
      await saveCurrent(tenants, tenantId, { id: NAMES_ID, tenantId, customAttributes }, version)
    },
  }
}
