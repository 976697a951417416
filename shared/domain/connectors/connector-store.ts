import type { Versioned } from '../../kernel/versioned.ts'
import type { Connector } from './connector.ts'

/** The connectors of each tenant. */
export interface ConnectorStore {
  /** All of a tenant's connectors, oldest first. */
  list(tenantId: string): Promise<Connector[]>
  /** Undefined when there is none. */
  find(tenantId: string, id: string): Promise<Versioned<Connector> | undefined>
  add(tenantId: string, connector: Connector): Promise<void>
  /** @throws Refusal `StaleVersion` when `version` is no longer current, `ConnectorNotFound`. */
  replace(tenantId: string, connector: Connector, version: string): Promise<Versioned<Connector>>
  /** @throws Refusal `StaleVersion` when `version` is no longer current, `ConnectorNotFound`. */
  remove(tenantId: string, id: string, version: string): Promise<void>
}
