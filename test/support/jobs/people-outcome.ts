import { derivedId } from '../../../shared/cosmos/derived-id.ts'
import { connectorObjectId, type ObjectData } from '../../../shared/domain/connectors/connector-object.ts'
import type { ObjectWrite } from '../../../shared/domain/connectors/object-input.ts'
import { PeopleModel } from '../contract/people-model.ts'
import type { PeopleSettings, RekeyStep } from './people-steps.ts'

const DEFAULTS: PeopleSettings = { joinOn: ['nin', 'directoryObjectId'], bindsAccounts: true, authority: 'Full' }

/** Identities under the ids under which they go on, for those that get other ones. */
export type Continued = ReadonlyMap<string, string>

/** What the connectors have said about people after some steps, and who the people then are by a model of it. */
export class PeopleOutcome {
  readonly #connectorIds: readonly string[]
  readonly #model: PeopleModel
  readonly #settings: PeopleSettings[]

  private constructor(connectorIds: readonly string[], model: PeopleModel, settings: readonly PeopleSettings[]) {
    this.#connectorIds = connectorIds
    this.#model = model
    this.#settings = [...settings]
  }

  static of(connectorIds: readonly string[]): PeopleOutcome {
    const settings = connectorIds.map(() => DEFAULTS)
    return new PeopleOutcome(connectorIds, new PeopleModel(settings), settings)
  }

  copy(): PeopleOutcome {
    return new PeopleOutcome(this.#connectorIds, this.#model.copy(), this.#settings)
  }

  /** The ids of each person's identities. */
  people(): readonly (readonly string[])[] {
    return this.#model.people()
  }

  /** What each identity has sent last, by its id. */
  said(): ReadonlyMap<string, Readonly<Record<string, unknown>>> {
    return new Map(this.#model.identities().map(({ id, data }) => [id, data]))
  }

  idOf(connector: number, externalId: string): string {
    const connectorId = this.#connectorIds[connector] ?? ''
    return connectorObjectId({ connectorId, objectType: 'identity', externalId }, derivedId)
  }

  /** The writes that give an identity another external id, by batch: none when there is no such identity. */
  rekeying({ connector, from, to, how }: RekeyStep): ObjectWrite[][] {
    const data = this.#model.find(this.idOf(connector, from))?.data as ObjectData | undefined
    if (data === undefined) return []
    const objectType = 'identity'
    const deletion: ObjectWrite = { operation: 'delete', objectType, externalId: from }
    const creation: ObjectWrite = { operation: 'upsert', objectType, externalId: to, data }
    if (how === 'renamed') return [[{ ...creation, previousExternalId: from }]]
    if (from === to) return [[creation]]
    const inOrder = how.startsWith('deleted') ? [deletion, creation] : [creation, deletion]
    return how.endsWith('before') ? inOrder.map((each) => [each]) : [inOrder]
  }

  /** The identities that go on under other ids when an identity gets another external id in these ways. */
  continued({ connector, from, to, how }: RekeyStep): Continued {
    const [former, present] = [this.idOf(connector, from), this.idOf(connector, to)]
    if (from === to || this.#model.find(former) === undefined || this.#model.find(present) !== undefined) {
      return new Map()
    }
    const goesOn = how === 'renamed' || this.#model.canBeRekeyed(former)
    return new Map(goesOn ? [[former, present]] : [])
  }

  /** The identity as which the person of one goes on when it is deleted, if only one of its connector has its keys. */
  continuedInDouble(connector: number, { operation, externalId }: ObjectWrite): Continued {
    const id = this.idOf(connector, externalId)
    const [double, ...others] = operation === 'delete' && this.#model.find(id) ? this.#model.doublesOf(id) : []
    return new Map(double !== undefined && others.length === 0 ? [[id, double]] : [])
  }

  /** Whether the write can end a conflict: those whom it leaves apart have no key in common with what it writes. */
  canEndConflict(connector: number, { operation, externalId }: ObjectWrite): boolean {
    return operation === 'delete' || this.#model.find(this.idOf(connector, externalId)) !== undefined
  }

  /** Takes as one who were one for a moment. */
  wereOne(people: Iterable<readonly string[]>): void {
    this.#model.wereOne(people)
  }

  change(connector: number, settings: PeopleSettings): void {
    this.#settings[connector] = settings
    const { authority, ...others } = settings
    this.#model.change(connector, { ...others, supplements: authority === 'Supplement' })
  }

  /** A batch: changes of people count first, then deletions, then creations. */
  sendAll(connector: number, writes: readonly ObjectWrite[]): void {
    const isLive = ({ externalId }: ObjectWrite) => this.#model.find(this.idOf(connector, externalId)) !== undefined
    const placeOf = (write: ObjectWrite) => (write.operation === 'delete' ? 1 : isLive(write) ? 0 : 2)
    const inOrder = writes
      .map((write) => ({ write, place: placeOf(write) }))
      .sort((left, right) => left.place - right.place)
    for (const { write } of inOrder) this.send(connector, write)
  }

  send(connector: number, write: ObjectWrite): void {
    if (write.objectType !== 'identity') return
    const id = this.idOf(connector, write.externalId)
    if (write.operation === 'delete') {
      this.#model.remove(id)
      return
    }
    const identity = { id, connector, data: write.data }
    const { previousExternalId } = write as { previousExternalId?: string }
    const former = previousExternalId === undefined ? undefined : this.idOf(connector, previousExternalId)
    const isLive = former !== undefined && former !== id && this.#model.find(former) !== undefined
    if (!isLive) this.#model.put(identity)
    else if (this.#model.find(id) === undefined) this.#model.rename(former, identity)
  }
}
