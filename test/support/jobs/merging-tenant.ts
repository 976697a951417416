import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Service } from '../../../functions/app/service.ts'
import { auditCoreObjects } from '../../../shared/domain/connectors/audit-core-objects.ts'
import type { Connector } from '../../../shared/domain/connectors/connector.ts'
import type { ConnectorObject } from '../../../shared/domain/connectors/connector-object.ts'
import { updateConnector } from '../../../shared/domain/connectors/manage-connectors.ts'
import type { ObjectWrite } from '../../../shared/domain/connectors/object-input.ts'
import { writeObjects } from '../../../shared/domain/connectors/write-objects.ts'
import { createLink } from '../../../shared/domain/group-links/create-link.ts'
import { updateLinkSettings } from '../../../shared/domain/group-links/link-settings.ts'
import { addMembersDirectly, removeMembersDirectly } from '../../../shared/domain/membership-requests/direct-members.ts'
import { createJoinableCollection } from '../../../shared/domain/membership-requests/joinable-collection.ts'
import { submitRequest } from '../../../shared/domain/membership-requests/submit-request.ts'
import type { Caller } from '../../../shared/kernel/caller.ts'
import { Refusal } from '../../../shared/kernel/refusals.ts'
import { contributionsOf, newSourceTenant, recordsOf, type SourceTenant } from '../contract/source-tenant.ts'
import { guardedGroup } from './guarded-group.ts'
import type { MergeServers } from './merge-servers.ts'
import { isTrouble, Life } from './mortal-process.ts'
import type { PeopleOutcome } from './people-outcome.ts'
import {
  APPROVED,
  COLLECTION_TYPES,
  type Fault,
  LINKED,
  type MemberStep,
  type Named,
  type PeopleSettings,
  type Start,
} from './people-steps.ts'

/** An evaluation lease of a killed process has expired after this time. */
const LEASE_EXPIRED_MS = 200_000
const MAX_ATTEMPTS = 10
/** The external id of the approver, whom the last connector carries. */
const APPROVER = 'approver'

/** Who is a member or waits: the identities that carry the person, and the position. */
export type Member = {
  readonly collection: number
  readonly person: readonly string[]
  readonly position: string | null
  readonly isWaiting: boolean
}

export type State = {
  readonly members: readonly Member[]
  /** Contributors of core objects that exist. */
  readonly live: ReadonlySet<string>
  /** The contributors of the identity that holds an account. */
  readonly accounts: ReadonlyMap<string, readonly string[]>
  readonly group: ReadonlySet<string>
}

/** A tenant whose people are in joinable collections. One of these is linked to a group. */
export class MergingTenant {
  readonly #servers: MergeServers
  readonly #healthy: Service
  readonly #caller: Caller
  readonly #collections: string[] = []
  #source: SourceTenant
  #auditFault: Fault | undefined
  readonly group

  private constructor(servers: MergeServers, source: SourceTenant) {
    this.#servers = servers
    this.#healthy = servers.healthy
    this.#source = source
    this.group = guardedGroup([], servers.clock.nowMs)
    const objectId = randomUUID()
    this.#caller = { kind: 'application', tenantId: source.tenantId, objectId, clientId: undefined, roles: new Set() }
  }

  /** @param ids Of the connectors. The last one carries only the approver. */
  static async open(servers: MergeServers, ids: readonly string[]): Promise<MergingTenant> {
    const tenant = new MergingTenant(servers, await newSourceTenant(ids, servers.healthy.connectors))
    await tenant.send(ids.length - 1, [{ operation: 'upsert', objectType: 'identity', externalId: APPROVER, data: {} }])
    const [approver] = await contributionsOf(tenant.#source, servers.healthy.connectors)
    const gate = { order: 1, type: 'Identity', approvers: [approver?.coreObjectId ?? ''] }
    const approved = { approvalRequired: true, approvalGates: [gate] }
    for (const [index, objectType] of COLLECTION_TYPES.entries()) {
      const body = {
        objectType,
        name: `Choir ${index}`,
        joinPolicy: index === APPROVED ? approved : { approvalRequired: false },
      }
      const { id } = await createJoinableCollection(body, tenant.#caller, servers.healthy.requests)
      tenant.#collections.push(id)
    }
    return tenant
  }

  /** Sends all objects of each connector in one batch, then adds the members. */
  async begin({ objects, members }: Start): Promise<void> {
    for (const [index, writes] of objects.entries()) await this.send(index, writes)
    for (const [collection, some] of members.entries()) await this.#changeMembers('join', collection, some)
    await this.followed()
  }

  /** Links the first collection of identities to the group. */
  async link(): Promise<void> {
    const { tenantId } = this.#source
    const { links } = this.#healthy
    const groupId = randomUUID()
    this.#servers.groups.set(groupId, this.group)
    const change = { removalGuard: { enabled: false } }
    await updateLinkSettings({ tenantId, callerId: this.#caller.objectId, ifMatch: undefined, change }, links)
    await createLink(tenantId, { collectionId: this.#collections[LINKED] ?? '', directoryGroupId: groupId }, links)
    await this.followed()
  }

  /** Sends a batch of a connector. */
  async send(connector: number, writes: readonly ObjectWrite[], service = this.#healthy): Promise<void> {
    const { tenantId, connectors } = this.#source
    await writeObjects(tenantId, connectors[connector] as Connector, writes, service.connectors)
  }

  /**
   * Does the work in a process that meets the fault, and again in another one, unless it is abandoned.
   * @param meanwhile Done by another instance at a call of the work, or after it.
   */
  async work(
    fault: Fault | undefined,
    work: (service: Service) => Promise<unknown>,
    meanwhile?: { readonly atCall: number; act(): Promise<unknown> },
  ): Promise<void> {
    let acting: Promise<unknown> | undefined
    const act = async () => {
      acting ??= meanwhile?.act()
      await acting
    }
    for (let attempt = 0; ; attempt += 1) {
      assert.ok(attempt < MAX_ATTEMPTS, 'The work is never done')
      const life = new Life()
      const isFirst = attempt === 0 && (fault !== undefined || meanwhile !== undefined)
      if (isFirst && meanwhile !== undefined) life.interruptAfter(meanwhile.atCall, act)
      else if (isFirst && fault?.kind === 'followed') life.interruptAfter(fault.atCall, () => this.followed())
      if (isFirst && (fault?.kind === 'killed' || fault?.kind === 'abandoned')) life.endAfter(fault.atCall)
      if (isFirst && fault?.kind === 'unanswered') life.loseAnswerAfter(fault.atCall)
      try {
        await work(isFirst ? this.#servers.newService(life) : this.#healthy)
        break
      } catch (error) {
        if (!hasTrouble(error)) throw error
        if (fault?.kind === 'abandoned') break
      }
    }
    // Also when it has begun: the process can have been killed by another of its calls meanwhile.
    await act()
  }

  /** Evaluates in a process that meets the fault, if any, and in others until that is done. */
  async evaluate(fault: Fault): Promise<void> {
    await this.work(fault, (service) => service.evaluator.evaluate(this.#source.tenantId))
    await this.#servers.clock.sleep(LEASE_EXPIRED_MS)
  }

  /** Evaluates and syncs, in a process that meets no faults, until nothing is left to do. */
  followed(): Promise<void> {
    return this.#servers.follow(this.#source.tenantId, async (message) => {
      const fault = message.queue === 'audits' ? this.#auditFault : undefined
      if (fault !== undefined) this.#auditFault = undefined
      await this.work(fault, (service) => this.#servers.handle(message, service))
    })
  }

  /**
   * Changes a connector, after which the audits that it enqueues join and split people.
   * @returns Whether it has changed: an abandoned change may not have been stored.
   */
  async change(
    connector: number,
    settings: PeopleSettings,
    faults: { readonly duringChange: Fault | undefined; readonly duringAudit: Fault | undefined },
  ): Promise<boolean> {
    const { tenantId, connectors } = this.#source
    const id = connectors[connector]?.id ?? ''
    await this.work(faults.duringChange, (service) =>
      updateConnector(id, settings, undefined, this.#caller, service.connectors),
    )
    this.#auditFault = faults.duringAudit
    await this.followed()
    this.#auditFault = undefined
    this.#source = { tenantId, connectors: await this.#healthy.connectors.connectors.list(tenantId) }
    const { joinOn, bindsAccounts, authority } = this.#source.connectors[connector] as Connector
    return JSON.stringify({ joinOn, bindsAccounts, authority }) === JSON.stringify(ordered(settings))
  }

  changeMembers = ({ kind, collection, ...person }: MemberStep) => this.#changeMembers(kind, collection, [person])

  /** Adds the people to the collection or ends their memberships, those who exist. */
  async #changeMembers(kind: 'join' | 'leave', collection: number, people: readonly Named[]): Promise<void> {
    const { tenantId } = this.#source
    const { requests } = this.#healthy
    const ids = await this.#identitiesOf(people)
    const collectionId = this.#collections[collection] ?? ''
    if (collection === APPROVED && kind === 'join') {
      for (const identityId of ids) {
        await submitRequest(collectionId, {}, { tenantId, identityId }, requests).catch(unlessRefused)
      }
    } else if (ids.length > 0) {
      const change = kind === 'join' ? addMembersDirectly : removeMembersDirectly
      const actor = { id: this.#caller.objectId, identityId: undefined }
      await change(tenantId, collectionId, { coreIdentityIds: ids }, actor, requests)
    }
  }

  /** The identities with contributions of these names, those that exist. */
  async #identitiesOf(people: readonly Named[]): Promise<string[]> {
    const contributions = await contributionsOf(this.#source, this.#healthy.connectors)
    const found = contributions.filter(({ objectType, connectorId, externalId }) =>
      people.some(
        ({ connector, name }) =>
          objectType === 'identity' &&
          connectorId === this.#source.connectors[connector]?.id &&
          externalId === name &&
          this.#carries(connectorId),
      ),
    )
    return [...new Set(found.map(({ coreObjectId }) => coreObjectId))].sort()
  }

  #carries(connectorId: string): boolean {
    return this.#source.connectors.some(({ id, authority }) => id === connectorId && authority === 'Full')
  }

  /** What was written since the last audit, as every day: a process that ended may have left differences. */
  async auditedDaily(): Promise<void> {
    await auditCoreObjects({ tenantId: this.#source.tenantId }, this.#healthy.connectors)
    await this.followed()
  }

  /** Compares all core objects with their contributions, which finds nothing to repair. */
  async audited(): Promise<void> {
    const { tenantId } = this.#source
    await auditCoreObjects({ tenantId, after: '0', beganAtMs: this.#servers.clock.nowMs() }, this.#healthy.connectors)
  }

  /** Evaluates in a new process, which checks all requests, as every process does once a day. */
  async checkedInFull(): Promise<State> {
    await this.#servers.newService(new Life()).evaluator.evaluate(this.#source.tenantId)
    return this.state()
  }

  /** What the connectors say of people, without the approver. */
  async #identities(): Promise<readonly ConnectorObject[]> {
    const contributions = await contributionsOf(this.#source, this.#healthy.connectors)
    return contributions.filter(({ objectType, externalId }) => objectType === 'identity' && externalId !== APPROVER)
  }

  /** The contributors of each person who exists. */
  async people(): Promise<readonly string[]> {
    return this.#peopleOf(await this.#identities())
  }

  #peopleOf(identities: readonly ConnectorObject[]): readonly string[] {
    const people = [...Map.groupBy(identities, ({ coreObjectId }) => coreObjectId).values()]
    const existing = people.filter((person) => person.some(({ connectorId }) => this.#carries(connectorId)))
    return inSets(existing.map((person) => person.map(({ id }) => id)))
  }

  records = () => recordsOf(this.#source, this.#healthy.connectors)

  async state(): Promise<State> {
    const { tenantId } = this.#source
    const contributions = await contributionsOf(this.#source, this.#healthy.connectors)
    const carriers = contributions.filter(({ connectorId }) => this.#carries(connectorId))
    const byCoreObject = Map.groupBy(carriers, ({ coreObjectId }) => coreObjectId)
    const whoIs = (id: string) => (byCoreObject.get(id) ?? []).map((each) => each.id).sort()
    const rows = await this.#healthy.connectors.coreObjects.mergedOfIds(tenantId, [...byCoreObject.keys()])
    const accounts = rows.flatMap(({ value: { id, attributes } }): [string, readonly string[]][] => {
      const { directoryObjectId } = attributes
      return directoryObjectId === undefined ? [] : [[directoryObjectId as string, whoIs(id)]]
    })
    const members = await this.#members(whoIs)
    const live = new Set(carriers.map(({ id }: ConnectorObject) => id))
    return { members, live, accounts: new Map(accounts), group: new Set(this.group.group) }
  }

  async #members(whoIs: (id: string) => readonly string[]): Promise<readonly Member[]> {
    const { tenantId } = this.#source
    const { collections, requests } = this.#healthy
    const joined = await collections.joined.of(tenantId, this.#collections)
    const waiting = await requests.requests.allWaitingIn(tenantId, this.#collections[APPROVED] ?? '')
    const members = this.#collections.flatMap((id, collection) =>
      (joined.get(id)?.memberships ?? []).map(({ identityId, relationshipId }): Member => {
        const [position = null] = relationshipId === null ? [] : whoIs(relationshipId)
        return { collection, person: whoIs(identityId), position, isWaiting: false }
      }),
    )
    const others = waiting.map(({ value }): Member => {
      return { collection: APPROVED, person: whoIs(value.requesterId), position: null, isWaiting: true }
    })
    return [...members, ...others]
  }

  /** The outcome, of several, in which the connectors have said the same. @throws Error unless people are the same in it. */
  async outcomeAmong(outcomes: readonly PeopleOutcome[]): Promise<PeopleOutcome> {
    const identities = await this.#identities()
    const people = this.#peopleOf(identities)
    const said = inTexts(identities.map(({ id, data }) => [id, data]))
    const likely = outcomes.filter((outcome) => isDeepStrictEqual(inTexts([...outcome.said()]), said))
    assert.ok(likely.length > 0, 'The connectors have said something else')
    const found = likely.find((outcome) => isDeepStrictEqual(inSets(outcome.people()), people))
    assert.deepEqual(people, inSets((found ?? likely[0])?.people() ?? []), 'who is who')
    return found ?? assert.fail()
  }
}

const inTexts = (said: readonly (readonly [string, object])[]): string[] =>
  said.map(([id, data]) => `${id} ${JSON.stringify(Object.entries(data).sort())}`).sort()

/** Each person's contributors in one text, in order. */
export const inSets = (people: readonly (readonly string[])[]): string[] =>
  people.map((person) => person.toSorted().join()).sort()

const ordered = ({ joinOn, bindsAccounts, authority }: PeopleSettings): PeopleSettings => ({
  joinOn,
  bindsAccounts,
  authority,
})

function unlessRefused(error: unknown): void {
  if (!(error instanceof Refusal)) throw error
}

function hasTrouble(error: unknown): boolean {
  if (isTrouble(error)) return true
  const { cause, errors } = error as { cause?: unknown; errors?: unknown }
  return (cause !== undefined && hasTrouble(cause)) || (Array.isArray(errors) && errors.some(hasTrouble))
}
