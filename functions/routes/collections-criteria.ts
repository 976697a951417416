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
import { created, deleted, ok, okVersioned } from '../../shared/http/answers.ts'
import { pathValue, type RouteGroup, route } from '../../shared/http/route.ts'
import type { RefusalCode } from '../../shared/kernel/refusals.ts'
import { Guid } from '../../shared/kernel/schema.ts'
import { COLLECTION_READERS, COLLECTION_WRITERS } from './collection-roles.ts'
import { FilterMembersRequest, MemberIds } from './filter-members.ts'
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

/** Managing criteria collections: statement, "Criteria collections". */
export const criteriaRoutes = (deps: CollectionDependencies): RouteGroup => ({
  prefix: PREFIXES.criteria,
  routes: [
    route({
      operationId: 'listCriteriaCollections',
      summary: 'All criteria collections, by name',
      method: 'GET',
      path: '/',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: Type.Array(CriteriaCollectionDto) },
      refusals: [],
      run: async ({ caller }) =>
        ok((await listCollections(caller.tenantId, { kind: 'criteria' }, deps)).map(toCriteriaCollectionDto)),
    }),
    route({
      operationId: 'createCriteriaCollection',
      summary: 'Make a criteria collection; its members follow within seconds',
      method: 'POST',
      path: '/',
      roles: COLLECTION_WRITERS,
      body: NewCriteriaCollection,
      reply: { status: 201, schema: Guid },
      refusals: [...CONDITION_REFUSALS, 'DuplicateTag', 'StaleVersion'],
      run: async ({ body, caller, creation }) =>
        created(PREFIXES.criteria, (await createCriteriaCollection(body, caller, deps, creation)).id),
    }),
    route({
      operationId: 'getCriteriaCollection',
      summary: 'One criteria collection',
      method: 'GET',
      path: '/{id}',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: CriteriaCollectionDto, versioned: true },
      refusals: ['CollectionNotFound'],
      run: async ({ path, caller }) =>
        okVersioned(
          await readCollection(caller.tenantId, pathValue(path, 'id'), 'criteria', deps),
          toCriteriaCollectionDto,
        ),
    }),
    route({
      operationId: 'updateCriteriaCollection',
      summary:
        'Change a criteria collection; what is left out keeps its value, tags and attributes each for themselves',
      description:
        'What the definition names already may be sent back when it is gone, so that a record that was read can ' +
        'be written.',
      method: 'PUT',
      path: '/{id}',
      roles: COLLECTION_WRITERS,
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
      run: async ({ path, body, ifMatch, caller }) =>
        okVersioned(
          await updateCriteriaCollection(pathValue(path, 'id'), body, ifMatch, caller, deps),
          toCriteriaCollectionDto,
        ),
    }),
    route({
      operationId: 'deleteCriteriaCollection',
      summary: 'Delete a criteria collection that nothing refers to',
      description: 'While other collections or links refer to it, `CollectionInUse` names them.',
      method: 'DELETE',
      path: '/{id}',
      roles: COLLECTION_WRITERS,
      reply: { status: 200, schema: Type.Null() },
      refusals: ['CollectionNotFound', 'PreconditionFailed', 'CollectionInUse', 'StaleVersion'],
      run: async ({ path, ifMatch, caller }) =>
        deleted(deleteCollection('criteria', pathValue(path, 'id'), ifMatch, caller, deps)),
    }),
    route({
      operationId: 'getCriteriaResults',
      summary: 'The members, as last evaluated',
      description:
        'A change of a person, a position or a definition shows within seconds. A collection whose stored ' +
        'condition cannot be understood any more keeps the members it has, until its definition is changed.',
      method: 'GET',
      path: '/{id}/results',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: CollectionResults },
      refusals: ['CollectionNotFound'],
      run: async ({ path, caller }) => ok(await readResults(caller.tenantId, pathValue(path, 'id'), 'criteria', deps)),
    }),
    route({
      operationId: 'filterCriteriaMembers',
      summary: 'Those of the given ids that are members',
      method: 'POST',
      path: '/{id}/results/filter-members',
      roles: COLLECTION_READERS,
      body: FilterMembersRequest,
      reply: { status: 200, schema: MemberIds },
      refusals: ['CollectionNotFound'],
      run: async ({ path, body, caller }) =>
        ok(await filterMembers(caller.tenantId, pathValue(path, 'id'), 'criteria', candidateIds(body), deps)),
    }),
    route({
      operationId: 'previewCriteria',
      summary: 'Who would be a member now, and how that differs from an existing collection; saves nothing',
      description: 'Computed from what is known now: a preview waits for no evaluation.',
      method: 'POST',
      path: '/preview',
      roles: COLLECTION_READERS,
      body: PreviewRequest,
      reply: { status: 200, schema: PreviewReply },
      refusals: CONDITION_REFUSALS,
      run: async ({ body, caller }) => ok(await previewCriteria(caller.tenantId, body, deps)),
    }),
    route({
      operationId: 'getTenantSchemas',
      summary: 'The attributes that conditions can filter on',
      method: 'GET',
      path: '/tenant-schemas',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: TenantSchemas },
      refusals: [],
      run: async ({ caller }) => ok(await tenantSchemas(caller.tenantId, deps)),
    }),
  ],
})
