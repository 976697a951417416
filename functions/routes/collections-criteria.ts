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
import { deleteCollection } from '../../shared/domain/collections/delete-collection.ts'
import { createCriteriaCollection, updateCriteriaCollection } from '../../shared/domain/collections/manage-criteria.ts'
import { PreviewReply, PreviewRequest, previewCriteria } from '../../shared/domain/collections/preview.ts'
import {
  candidateIds,
  filterMembers,
  listCollections,
  readCollection,
  readResults,
} from '../../shared/domain/collections/read-collections.ts'
import { created, deleted, ok, okVersioned, type RouteGroup, route } from '../../shared/http/route.ts'
import type { RefusalCode } from '../../shared/kernel/refusals.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import { COLLECTION_READERS, COLLECTION_WRITERS, FilterMembersRequest, MemberIds } from './collection-contract.ts'
import { PREFIXES } from './prefixes.ts'

const CONDITION_REFUSALS: readonly RefusalCode[] = [
  'ObjectTypeNotSupported',
  'CollectionUnknown',
  'RootNotGroup',
  'InvalidNode',
  'MemberRequired',
  'InvalidMember',
  'UnknownGroupOperator',
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
  'ListRequired',
  'ConditionTooDeep',
  'TooManyLeaves',
  'TooManyEntries',
]

/** Manages criteria collections: statement, "Criteria collections". */
export const criteriaRoutes = (deps: CollectionDependencies): RouteGroup => ({
  prefix: PREFIXES.criteria,
  routes: [
    route('GET', '/', {
      operationId: 'listCriteriaCollections',
      summary: 'List criteria collections',
      description: 'Ordered by name.',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: Type.Array(CriteriaCollectionDto) },
      run: async ({ caller }) =>
        ok((await listCollections(caller.tenantId, { kind: 'criteria' }, deps)).map(toCriteriaCollectionDto)),
    }),
    route('POST', '/', {
      operationId: 'createCriteriaCollection',
      summary: 'Create a criteria collection',
      description:
        'The members are evaluated in the background, normally within seconds. A tenant has at most 5,000 collections of ' +
        'both kinds; concurrent requests can exceed this by a few.',
      roles: COLLECTION_WRITERS,
      identity: 'optional',
      body: NewCriteriaCollection,
      reply: { status: 201, schema: Guid },
      refusals: [...CONDITION_REFUSALS, 'DuplicateTag', 'QuotaExceeded', 'StaleVersion'],
      run: async ({ body, caller, identityId, creation }) => {
        const { id } = await createCriteriaCollection(body, { ...caller, identityId }, deps, creation)
        return created(PREFIXES.criteria, id)
      },
    }),
    route('GET', '/{id}', {
      operationId: 'getCriteriaCollection',
      summary: 'Get a criteria collection',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: CriteriaCollectionDto, versioned: true },
      refusals: ['CollectionNotFound'],
      run: async ({ path: { id }, caller }) =>
        okVersioned(await readCollection(caller.tenantId, id, 'criteria', deps), toCriteriaCollectionDto),
    }),
    route('PUT', '/{id}', {
      operationId: 'updateCriteriaCollection',
      summary: 'Update a criteria collection',
      description:
        'Omitted members keep their values; `tags` and `attributes` are kept separately. The condition can keep ' +
        'attributes and collections that no longer exist if the stored condition already names them, so that a record ' +
        'can always be sent back as it was read.',
      roles: COLLECTION_WRITERS,
      identity: 'optional',
      body: CriteriaCollectionUpdate,
      reply: { status: 200, schema: CriteriaCollectionDto, versioned: true },
      refusals: [
        'CollectionNotFound',
        'PreconditionFailed',
        'ObjectTypeFixed',
        ...CONDITION_REFUSALS,
        'CircularReference',
        'DuplicateTag',
        'StaleVersion',
      ],
      run: async ({ path: { id }, body, ifMatch, caller, identityId }) => {
        const updated = await updateCriteriaCollection(id, body, ifMatch, { ...caller, identityId }, deps)
        return okVersioned(updated, toCriteriaCollectionDto)
      },
    }),
    route('DELETE', '/{id}', {
      operationId: 'deleteCriteriaCollection',
      summary: 'Delete a criteria collection',
      description:
        'A collection that other collections or group links refer to cannot be deleted. `CollectionInUse` names them.',
      roles: COLLECTION_WRITERS,
      reply: { status: 200, schema: Type.Null() },
      refusals: ['CollectionNotFound', 'PreconditionFailed', 'CollectionInUse', 'StaleVersion'],
      run: async ({ path: { id }, ifMatch, caller }) =>
        deleted(deleteCollection('criteria', id, ifMatch, caller, deps)),
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
        'Saves nothing, and refuses what an update of that collection would refuse.',
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
        'Returns the attributes of the tenant with their types, per object type. `identityNin`, `identityMobile`, ' +
        '`identityPrivateMobile` and `identityPrivateEmail` exist only for callers who may read all core objects; for ' +
        'others, a condition with them is refused with `FieldNotInSchema`, unless it stays as it is stored.',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: TenantSchemas },
      run: async ({ caller }) => ok(await tenantSchemas(caller, deps)),
    }),
  ],
})
