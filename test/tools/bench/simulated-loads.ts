import { RowMemory } from '../../../shared/domain/tenant-index/row-memory.ts'

/** How the instances of one function group are run. They share nothing, and a message reaches any of them. */
export type Instances = {
  readonly tenants: number
  readonly rowsPerTenant: number
  /** Rows that an instance keeps in memory. */
  readonly rowsPerInstance: number
  readonly instances: number
  /** After which an instance is replaced by a new one, without rows. */
  readonly lifeHours: number
  /** Evaluations because of changes. */
  readonly changesPerTenantHour: number
}

const HOUR_MS = 3_600_000
const SIMULATED_HOURS = 24
/** More tenants, on instances with accordingly more memory, behave alike. */
const MAX_TENANTS = 200

/**
 * How many times per hour the rows of a tenant are loaded: changes come at random, and each instance evicts as
 * `RowMemory` does.
 */
export async function simulatedLoads(run: Instances): Promise<number> {
  const tenants = Math.min(run.tenants, MAX_TENANTS)
  const maxBytes = Math.max(run.rowsPerTenant, (run.rowsPerInstance * tenants) / run.tenants)
  const random = seeded(7)
  let nowMs = 0
  const newInstance = () => {
    const held = new Set<string>()
    const memory = new RowMemory(
      maxBytes,
      () => nowMs,
      (tenantId) => held.delete(tenantId),
    )
    return { held, memory }
  }
  const instances = Array.from({ length: run.instances }, newInstance)
  let loads = 0
  const evaluate = async (tenantId: string) => {
    const { held, memory } = instances[Math.floor(random() * run.instances)] as ReturnType<typeof newInstance>
    if (held.has(tenantId)) return memory.use(tenantId, run.rowsPerTenant)
    loads += 1
    const load = memory.startLoad(tenantId)
    await memory.grow(load, run.rowsPerTenant, async () => run.rowsPerTenant)
    memory.endLoad(load, true)
    held.add(tenantId)
  }
  const stepMs = HOUR_MS / tenants
  for (let step = 0; step < SIMULATED_HOURS * tenants; step += 1) {
    nowMs += stepMs
    const lifeSteps = Math.max(1, Math.round((run.lifeHours * tenants) / run.instances))
    if (step % lifeSteps === lifeSteps - 1) instances[Math.floor(step / lifeSteps) % run.instances] = newInstance()
    for (let change = 0; change < run.changesPerTenantHour; change += 1) {
      await evaluate(`tenant ${Math.floor(random() * tenants)}`)
    }
  }
  return loads / (SIMULATED_HOURS * tenants)
}

/** The same numbers in each run: a linear congruential generator. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
