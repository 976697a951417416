import { Type } from 'typebox'
import {
  CollectionResults,
  CriteriaCollectionDto,
  CriteriaCollectionUpdate,
  NewCriteriaCollection,
  toCriteriaCollectionDto,
} from '../../shared/domain/collections/collection.ts'
import type { CollectionDependencies } from '../../shared/domain/collections/collection-dependencies.ts'
import { TenantSchemas, tenantSchemas } from '../../shared/domain/collections/condition-entry.ts'
import { ConditionWarning, warningsOf } from '../../shared/domain/collections/condition-warnings.ts'
import { deleteCollection } from '../../shared/domain/collections/delete-collection.ts'
import { FrequentValue, listFrequentValues } from '../../shared/domain/collections/frequent-values.ts'
import { MemberDto } from '../../shared/domain/collections/list-members.ts'
import { createCriteriaCollection, updateCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import { PreviewReply, PreviewRequest, previewCriteria } from '../../shared/domain/collections/preview.ts'
import {
  candidateIds,
  filterMembers,
  listCollections,
  readCollection,
  readResults,
} from '../../shared/domain/collections/read-collections.ts'
import { ChangePlan } from '../../shared/domain/insight/change-plan.ts'
import { planCreation, planUpdate, updateAsPlanned } from '../../shared/domain/insight/plan-change.ts'
import type { PlanDependencies } from '../../shared/domain/insight/plan-input.ts'
import { listPlannedPeople, PlannedPeopleQuery } from '../../shared/domain/insight/planned-people.ts'
import { hasFullAccess } from '../../shared/domain/object-access/object-access.ts'
import { type OpenCursors, PageQuery, pagedResult } from '../../shared/http/paging.ts'
import { created, deleted, ok, okVersioned, type RouteGroup, route } from '../../shared/http/route.ts'
import type { Caller } from '../../shared/kernel/caller.ts'
import type { RefusalCode } from '../../shared/kernel/refusal-register.ts'
import { Described, Guid } from '../../shared/kernel/schema.ts'
import { COLLECTION_READERS, COLLECTION_WRITERS, FilterMembersRequest, MemberIds } from './collection-contract.ts'
import { PREFIXES } from './prefixes.ts'

const CONDITION_REFUSALS: readonly RefusalCode[] = [
  'ObjectTypeNotSupported',
  'CollectionUnknown',
  'RootNotGroup',
  'InvalidNode',
  'InvalidMember',
  'UnknownGroupOperator',
  'AnyPositionNested',
  'AnyPositionNotAllowed',
  'EmptyGroup',
  'FieldNotInSchema',
  'FieldNotNamedById',
  'UnknownFunction',
  'InvalidFunctionArgument',
  'FunctionNotAllowed',
  'NestedFunctions',
  'TooManyFunctions',
  'UnknownOperator',
  'OperatorNotAllowed',
  'ValueTypeMismatch',
  'ListRequired',
  'ConditionTooLarge',
  'ConditionTooDeep',
  'TooManyLeaves',
  'TooManyEntries',
]

const CREATION_REFUSALS: readonly RefusalCode[] = [...CONDITION_REFUSALS, 'DuplicateTag', 'QuotaExceeded']

const UPDATE_REFUSALS: readonly RefusalCode[] = [
  'CollectionNotFound',
  'PreconditionFailed',
  'ObjectTypeFixed',
  ...CONDITION_REFUSALS,
  'CircularReference',
  'DuplicateTag',
]

const Warnings = Described(Type.Array(ConditionWarning), 'What is certainly not intended about the condition.')

const FrequentValuesQuery = Type.Object({
  attribute: Described(
    Type.String({ minLength: 1, maxLength: 256 }),
    'The name of an attribute of type `String`, as in `tenant-schemas`.',
  ),
  text: Type.Optional(
    Described(Type.String({ maxLength: 200 }), 'Only values that contain this text. Case does not matter.'),
  ),
})

const dtoFor = (caller: Caller) => toCriteriaCollectionDto({ showsSensitive: hasFullAccess(caller) })

export type CriteriaRouteDependencies = CollectionDependencies & PlanDependencies & { readonly cursors: OpenCursors }

/** Manages criteria collections. */
export const criteriaRoutes = (deps: CriteriaRouteDependencies): RouteGroup => ({
  prefix: PREFIXES.criteria,
  routes: [
    route('GET', '/', {
      operationId: 'listCriteriaCollections',
      summary: 'List criteria collections',
      description: 'Ordered by name.',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: Type.Array(CriteriaCollectionDto) },
      run: async ({ caller }) =>
        ok((await listCollections(caller.tenantId, { kind: 'criteria' }, deps)).map(dtoFor(caller))),
    }),
    route('POST', '/', {
      operationId: 'createCriteriaCollection',
      summary: 'Create a criteria collection',
      description:
        'The members are evaluated in the background, normally within seconds. A tenant has at most 5,000 collections of ' +
        'both kinds, whose definitions together have at most 32 MB of JSON. The JSON of a condition has at most 128 KB.',
      roles: COLLECTION_WRITERS,
      identity: 'optional',
      body: NewCriteriaCollection,
      reply: { status: 201, schema: Guid, warnings: Warnings },
      refusals: [...CREATION_REFUSALS, 'StaleVersion'],
      run: async ({ body, caller, identityId, creation }) => {
        const collection = await createCriteriaCollection(body, { ...caller, identityId }, deps, creation)
        return { ...created(PREFIXES.criteria, collection.id), warnings: await warningsOf(collection, deps) }
      },
    }),
    route('GET', '/{id}', {
      operationId: 'getCriteriaCollection',
      summary: 'Get a criteria collection',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: CriteriaCollectionDto, versioned: true },
      refusals: ['CollectionNotFound'],
      run: async ({ path: { id }, caller }) =>
        okVersioned(await readCollection(caller.tenantId, id, 'criteria', deps), dtoFor(caller)),
    }),
    route('PUT', '/{id}', {
      operationId: 'updateCriteriaCollection',
      summary: 'Update a criteria collection',
      description:
        'Omitted members keep their values; `tags` and `attributes` are kept separately. The condition can keep ' +
        'attributes and collections that no longer exist if the stored condition already names them, so that a record ' +
        'can always be sent back as it was read. A condition that refers to its own collection, through other ' +
        'collections or through `directMemberOfDirectoryGroups` and a group that these are linked to, is refused with ' +
        '`CircularReference`. With `If-Plan`, the update is saved only if its effect is still exactly ' +
        'the planned one.',
      roles: COLLECTION_WRITERS,
      identity: 'optional',
      body: CriteriaCollectionUpdate,
      reply: { status: 200, schema: CriteriaCollectionDto, versioned: true, warnings: Warnings },
      refusals: [...UPDATE_REFUSALS, 'QuotaExceeded', 'StaleVersion', 'PlanChanged', 'PlanExpired'],
      run: async ({ path: { id }, body, ifMatch, ifPlan, caller, identityId }) => {
        const update = { id, body, ifMatch, caller: { ...caller, identityId } }
        const updated = await (ifPlan === undefined
          ? updateCriteriaCollection(update, deps)
          : updateAsPlanned(update, ifPlan, deps))
        return { ...okVersioned(updated, dtoFor(caller)), warnings: await warningsOf(updated.value, deps) }
      },
    }),
    route('POST', '/{id}/plan', {
      operationId: 'planCriteriaUpdate',
      summary: 'Plan an update of a criteria collection',
      description:
        'Takes the body of an update and returns what saving it would do: to the members of this collection and of all ' +
        'that refer to it, to the groups that they are linked to, and to the eligibility for joinable collections. ' +
        'Compared are the members under the stored and the new condition, both on the current data, so changes that ' +
        'are still being evaluated do not count. Accounts are those of members: no group is read, and accounts whose ' +
        'removal is held count as still in their group. Saves nothing, approves no removals, and refuses what the ' +
        'update would refuse. Specify the `planId` in `If-Plan` to save only with exactly this effect: the same ' +
        'condition, members, accounts, people and requests, not only the same numbers. Names, descriptions and ' +
        'metadata are not part of the effect.',
      roles: COLLECTION_WRITERS,
      body: CriteriaCollectionUpdate,
      reply: { status: 200, schema: ChangePlan },
      refusals: UPDATE_REFUSALS,
      run: async ({ path: { id }, body, ifMatch, caller }) => ok(await planUpdate({ id, body, ifMatch, caller }, deps)),
    }),
    route('POST', '/{id}/plan/members', {
      operationId: 'listPlannedPeople',
      summary: 'List the people behind a number of a plan',
      description:
        'Takes the body of a plan, and in it the collection or the link whose numbers are asked for. Returns a page of ' +
        'the members that the collection would gain or lose, or of the identities whose accounts become due in the ' +
        'group of the link, as the list of members does: ordered by display name, then id. For the accounts of a link, ' +
        'an account that several identities have is listed with each of them. A collection that would not change has ' +
        'none. Saves nothing, and refuses what the plan refuses.',
      roles: COLLECTION_WRITERS,
      query: PageQuery,
      body: PlannedPeopleQuery,
      reply: { status: 200, schema: Type.Array(MemberDto), paged: true },
      refusals: [...UPDATE_REFUSALS, 'LinkNotFound', 'InvalidCursor'],
      run: ({ path: { id }, body, query, ifMatch, caller }) => {
        const { collectionId, linkId, change, ...update } = body
        const binding = [caller.tenantId, 'planned-people', id, JSON.stringify(body)]
        const selection = { collectionId, linkId, change }
        return pagedResult(query, binding, deps.cursors, (after, size) =>
          listPlannedPeople({ id, body: update, ifMatch, caller }, selection, { after, size }, deps),
        )
      },
    }),
    route('POST', '/plan', {
      operationId: 'planCriteriaCreation',
      summary: 'Plan a new criteria collection',
      description:
        'Takes the body of a creation and returns what saving it would do, as the plan of an update does. Creates nothing, ' +
        'and refuses what the creation would refuse. The `planId` cannot be specified in an update.',
      roles: COLLECTION_WRITERS,
      body: NewCriteriaCollection,
      reply: { status: 200, schema: ChangePlan },
      refusals: CREATION_REFUSALS,
      run: async ({ body, caller }) => ok(await planCreation(body, caller, deps)),
    }),
    route('DELETE', '/{id}', {
      operationId: 'deleteCriteriaCollection',
      summary: 'Delete a criteria collection',
      description:
        'A collection that other collections or group links refer to cannot be deleted. `CollectionInUse` names them.',
      roles: COLLECTION_WRITERS,
      identity: 'optional',
      reply: { status: 200, schema: Type.Null() },
      refusals: ['CollectionNotFound', 'PreconditionFailed', 'CollectionInUse', 'StaleVersion'],
      run: async ({ path: { id }, ifMatch, caller, identityId }) =>
        deleted(deleteCollection('criteria', id, ifMatch, { ...caller, identityId }, deps)),
    }),
    route('GET', '/{id}/results', {
      operationId: 'getCriteriaResults',
      summary: 'List the members of a criteria collection',
      description:
        'Returns the members of the last evaluation. Changes of core objects and definitions are evaluated in the ' +
        'background, normally within seconds. A collection with an invalid stored condition keeps its members, and so ' +
        'do the collections that refer to it, until its definition is changed.',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: CollectionResults },
      refusals: ['CollectionNotFound'],
      run: async ({ path: { id }, caller }) => ok(await readResults(caller.tenantId, id, 'criteria', deps)),
    }),
    route('POST', '/{id}/results/filter-members', {
      operationId: 'filterCriteriaMembers',
      summary: 'Filter ids by membership',
      description: 'Returns those of the given ids that are members, in the order given.',
      roles: COLLECTION_READERS,
      body: FilterMembersRequest,
      reply: { status: 200, schema: MemberIds },
      refusals: ['CollectionNotFound'],
      run: async ({ path: { id }, body, caller }) =>
        ok(await filterMembers(caller.tenantId, id, 'criteria', candidateIds(body), deps)),
    }),
    route('POST', '/preview', {
      operationId: 'previewCriteria',
      summary: 'Preview a criteria collection',
      description:
        'Evaluates a definition on the current core objects, and compares the result with the collection `currentId`. ' +
        'Saves nothing, and refuses what an update of that collection would refuse. A condition that refers to a ' +
        'collection whose stored condition is invalid is refused with `InvalidValue`.',
      roles: COLLECTION_READERS,
      body: PreviewRequest,
      reply: { status: 200, schema: PreviewReply },
      refusals: [...CONDITION_REFUSALS, 'ObjectTypeFixed', 'CircularReference'],
      run: async ({ body, caller }) => ok(await previewCriteria(caller, body, deps)),
    }),
    route('GET', '/tenant-schemas', {
      operationId: 'getTenantSchemas',
      summary: 'List the attributes for conditions',
      description:
        'Returns the attributes of the tenant with their types, per object type. Custom attributes are those that live ' +
        'objects have, with the types that connectors give them in `attributeTypes`. Some attributes follow from others: ' +
        '`relationshipIsActive` (until the day of its `endDate` has passed; its `startDate` does not matter), ' +
        '`relationshipIsPrimary`, `orgUnitWithAncestors` (the unit, its parent, up to the root: "this unit and all below ' +
        'it" is `Contains`), `identityManagedOrgUnits` and `identityDeputyOfOrgUnits` (the units whose `manager` or ' +
        'deputy the identity is), `identityHasReports` (some active relationship has it as manager, by itself or through ' +
        'its unit). They cannot be the attribute in a value. `identityNin`, `identityMobile`, ' +
        '`identityPrivateMobile` and `identityPrivateEmail` exist only for callers who may read all core objects; for ' +
        'others, a condition with them is refused with `FieldNotInSchema`, unless it is sent back as they read it: with ' +
        '`hidden` in place of each value that is compared with such an attribute.',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: TenantSchemas },
      run: async ({ caller }) => ok(await tenantSchemas(caller, deps)),
    }),
    route('GET', '/attribute-values', {
      operationId: 'listAttributeValues',
      summary: 'List the values of an attribute',
      description:
        'Returns at most 50 values that current core objects have for a text attribute, those of most objects first, ' +
        'to choose the value of a condition from. An attribute that the caller cannot use in a condition is refused ' +
        'with `FieldNotInSchema`.',
      roles: COLLECTION_READERS,
      query: FrequentValuesQuery,
      reply: { status: 200, schema: Type.Array(FrequentValue) },
      refusals: ['FieldNotInSchema'],
      run: async ({ query: { attribute, text }, caller }) =>
        ok(await listFrequentValues(caller, { attribute, text }, deps)),
    }),
  ],
})
