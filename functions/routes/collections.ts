import { Type } from 'typebox'
import {
  CollectionDto,
  CollectionObjectType,
  CollectionResults,
  toCollectionDto,
} from '../../shared/domain/collections/collection.ts'
import type { CollectionDependencies } from '../../shared/domain/collections/collection-dependencies.ts'
import {
  candidateIds,
  filterMembers,
  listCollections,
  readCollection,
  readResults,
  searchFilter,
} from '../../shared/domain/collections/read-collections.ts'
import { ok, okVersioned, pathValue, type RouteGroup, route } from '../../shared/http/route.ts'
import { COLLECTION_READERS, FilterMembersRequest, MemberIds, SearchQuery } from './collection-contract.ts'
import { PREFIXES } from './prefixes.ts'

/** Reads collections of both kinds: statement, "All collections". */
export const collectionRoutes = (deps: CollectionDependencies): RouteGroup => ({
  prefix: PREFIXES.collections,
  routes: [
    route({
      operationId: 'listCollections',
      summary: 'List collections',
      description: 'Returns criteria and joinable collections, ordered by name.',
      method: 'GET',
      path: '/',
      roles: COLLECTION_READERS,
      query: Type.Object({ objectType: Type.Optional(CollectionObjectType) }),
      reply: { status: 200, schema: Type.Array(CollectionDto) },
      refusals: [],
      run: async ({ query: { objectType }, caller }) =>
        ok(
          (await listCollections(caller.tenantId, objectType === undefined ? {} : { objectType }, deps)).map(
            toCollectionDto,
          ),
        ),
    }),
    route({
      operationId: 'searchCollections',
      summary: 'Search collections',
      description: 'Returns the collections that have all given tags and attributes, ordered by name.',
      method: 'GET',
      path: '/search',
      roles: COLLECTION_READERS,
      query: SearchQuery,
      reply: { status: 200, schema: Type.Array(CollectionDto) },
      refusals: [],
      run: async ({ query: { tags, attributes }, caller }) =>
        ok((await listCollections(caller.tenantId, searchFilter(tags, attributes), deps)).map(toCollectionDto)),
    }),
    route({
      operationId: 'getCollection',
      summary: 'Get a collection',
      method: 'GET',
      path: '/{collectionId}',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: CollectionDto, versioned: true },
      refusals: ['CollectionNotFound'],
      run: async ({ path, caller }) =>
        okVersioned(
          await readCollection(caller.tenantId, pathValue(path, 'collectionId'), undefined, deps),
          toCollectionDto,
        ),
    }),
    route({
      operationId: 'getCollectionResults',
      summary: 'List the members of a collection',
      method: 'GET',
      path: '/{collectionId}/results',
      roles: COLLECTION_READERS,
      reply: { status: 200, schema: CollectionResults },
      refusals: ['CollectionNotFound'],
      run: async ({ path, caller }) =>
        ok(await readResults(caller.tenantId, pathValue(path, 'collectionId'), undefined, deps)),
    }),
    route({
      operationId: 'filterCollectionMembers',
      summary: 'Filter ids by membership',
      description: 'Returns those of the given ids that are members, in the order given.',
      method: 'POST',
      path: '/{collectionId}/filter-members',
      roles: COLLECTION_READERS,
      body: FilterMembersRequest,
      reply: { status: 200, schema: MemberIds },
      refusals: ['CollectionNotFound'],
      run: async ({ path, body, caller }) =>
        ok(await filterMembers(caller.tenantId, pathValue(path, 'collectionId'), undefined, candidateIds(body), deps)),
    }),
  ],
})
