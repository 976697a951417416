/** Error category; determines the HTTP status. */
export type RefusalKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'missing'
  | 'gone'
  | 'methodNotAllowed'
  | 'conflict'
  | 'stale'
  | 'unprocessable'
  | 'throttled'
  | 'tooLarge'
  | 'lengthRequired'
  | 'unsupportedMediaType'
  | 'upstream'
  | 'unavailable'

type RefusalDefinition = { readonly kind: RefusalKind; readonly message: string }

/**
 * The closed register of refusals: every error `code` that the API returns, with its category and default message.
 * All other errors are faults. A fault is logged and returned as a 500 without details.
 */
export const REFUSALS = {
  // Routing and authentication
  RouteNotFound: { kind: 'missing', message: 'The path does not exist' },
  MethodNotAllowed: { kind: 'methodNotAllowed', message: 'The path does not support this method' },
  TokenMissing: { kind: 'unauthenticated', message: 'An access token is required: Authorization: Bearer <token>' },
  TokenInvalid: { kind: 'unauthenticated', message: 'The access token is not valid' },
  TokenNotVerified: { kind: 'upstream', message: 'Token signing keys are currently unavailable' },
  TenantNotAllowed: { kind: 'forbidden', message: 'The service is not available to this tenant' },
  TooManyRequests: { kind: 'throttled', message: 'The caller or its tenant sends too many requests' },
  RoleRequired: { kind: 'forbidden', message: 'The caller has none of the required roles' },
  UsersOnly: { kind: 'forbidden', message: 'Only users can perform this action, not applications' },
  CallerHasNoIdentity: { kind: 'forbidden', message: 'The caller has no identity in the core objects' },

  // Request parsing
  InvalidId: { kind: 'invalid', message: 'The id is not a GUID' },
  InvalidJson: { kind: 'invalid', message: 'The request body is not valid JSON' },
  BodyRequired: { kind: 'invalid', message: 'A JSON request body is required' },
  LengthRequired: {
    kind: 'lengthRequired',
    message: 'The request body must be sent with Content-Length, not with Transfer-Encoding: chunked',
  },
  BodyTooLarge: { kind: 'tooLarge', message: 'The request body is too large' },
  BodyTooDeep: { kind: 'invalid', message: 'The request body is nested deeper than 64 levels' },
  UnsupportedMediaType: {
    kind: 'unsupportedMediaType',
    message: 'The content type must be application/json in UTF-8, without a content encoding',
  },
  MissingMember: { kind: 'invalid', message: 'A required property is missing' },
  UnknownMember: {
    kind: 'invalid',
    message: 'The body has a property that does not exist but resembles one that does',
  },
  UnknownParameter: {
    kind: 'invalid',
    message: 'The query has a parameter that does not exist but resembles one that does',
  },
  InvalidType: { kind: 'invalid', message: 'A value has the wrong type' },
  InvalidValue: { kind: 'invalid', message: 'A value is not allowed' },
  InvalidLength: { kind: 'invalid', message: 'A value is too long or too short' },
  InvalidCursor: { kind: 'invalid', message: 'The cursor is not valid for this list' },
  IdempotencyKeyInvalid: { kind: 'invalid', message: 'Idempotency-Key must have 1 to 255 printable characters' },
  IdempotencyKeyReused: {
    kind: 'unprocessable',
    message: 'The Idempotency-Key was already used for a different request',
  },
  IdempotencyKeyInUse: {
    kind: 'conflict',
    message: 'The first request with this Idempotency-Key is still being processed',
  },
  PreconditionFailed: { kind: 'stale', message: 'The record has changed since the version in If-Match' },

  // Connectors and core objects
  ConnectorNotFound: { kind: 'missing', message: 'The connector does not exist' },
  ConnectorInUse: { kind: 'conflict', message: 'The connector still has objects' },
  ConnectorDisabled: { kind: 'conflict', message: 'The connector is disabled' },
  ConnectorObjectNotFound: { kind: 'missing', message: 'The connector has no such object' },
  ConnectorObjectExists: {
    kind: 'conflict',
    message: 'The connector already has an object with this type and external id',
  },
  ExternalIdInUse: {
    kind: 'conflict',
    message: 'Both the former and the new external id have a live object of this type',
  },
  NotThisConnector: { kind: 'forbidden', message: "Only the connector's own application can access its data" },
  ConnectorSupplementsOnly: {
    kind: 'forbidden',
    message: 'A connector with the authority Supplement has no org units and relationships',
  },
  TooManyAttributes: {
    kind: 'invalid',
    message: 'The tenant has the maximum number of different custom attributes for this object type',
  },
  AttributeTypeConflict: { kind: 'conflict', message: 'Another connector gives the attribute another type' },
  AttributeValuesDoNotFit: { kind: 'conflict', message: 'Values that exist do not read as the new type' },
  ConditionsDoNotFit: { kind: 'conflict', message: 'Conditions of collections do not fit the new type' },
  UnknownAttribute: { kind: 'invalid', message: 'The object type has no such attribute' },
  ReferenceToItself: { kind: 'invalid', message: 'An object cannot reference itself' },
  ReferenceCycle: { kind: 'invalid', message: 'An org unit cannot be its own ancestor' },
  ObjectTooLarge: {
    kind: 'invalid',
    message: 'The core object that this object is merged into would have more than 1 MB of JSON',
  },
  DuplicateItem: { kind: 'invalid', message: 'The batch contains the same object twice' },
  TenantTooLarge: {
    kind: 'unavailable',
    message: 'The core objects of the tenant do not fit into the memory for rows',
  },
  ObjectNotFound: { kind: 'missing', message: 'The object does not exist' },
  IdentityIsLive: { kind: 'conflict', message: 'Personal data of an identity can be erased only after it is deleted' },
  CoreObjectNotFound: { kind: 'missing', message: 'The object does not exist' },

  // Collections
  HistoryNotKept: { kind: 'gone', message: 'The history does not go back to this time' },
  CollectionNotFound: { kind: 'missing', message: 'The collection does not exist' },
  CollectionUnknown: { kind: 'invalid', message: 'The collection does not exist' },
  CollectionInUse: { kind: 'conflict', message: 'The collection is still referenced' },
  CircularReference: {
    kind: 'invalid',
    message: 'Criteria collections cannot refer to each other, or read the groups that they fill, in a circle',
  },
  ObjectTypeNotSupported: { kind: 'invalid', message: 'Collections of this object type are not supported' },
  ObjectTypeFixed: { kind: 'invalid', message: 'The object type of a collection cannot be changed' },
  DuplicateTag: { kind: 'invalid', message: 'A tag or attribute occurs twice' },

  // Joinable collections and membership requests
  GateRequired: { kind: 'invalid', message: 'Approval is required, but there is no approval gate' },
  InvalidGateOrder: { kind: 'invalid', message: 'The order of a gate must be 1 or greater' },
  DuplicateGateOrder: { kind: 'invalid', message: 'Two gates have the same order' },
  UnknownGateType: { kind: 'invalid', message: 'The gate type does not exist' },
  DuplicateManagerGate: { kind: 'invalid', message: 'Only one Manager gate is allowed' },
  ApproversRequired: { kind: 'invalid', message: 'A gate of this type requires approvers' },
  ApproversNotAllowed: { kind: 'invalid', message: 'A Manager gate cannot have approvers' },
  IdentityUnknown: { kind: 'invalid', message: 'The identity does not exist' },
  IdentityNotFound: { kind: 'missing', message: 'The identity does not exist' },
  RelationshipUnknown: { kind: 'invalid', message: 'The relationship does not exist' },
  RelationshipEnded: { kind: 'invalid', message: 'The relationship has ended' },
  RelationshipRequired: {
    kind: 'invalid',
    message: 'The identity has several relationships: relationshipId is required',
  },
  RelationshipNotYours: { kind: 'invalid', message: 'The relationship belongs to another identity' },
  RelationshipNotOfRequest: { kind: 'invalid', message: 'The request is for a different relationship' },
  RequesterRequired: { kind: 'invalid', message: 'requesterId or relationshipId is required' },
  RequestNotFound: { kind: 'missing', message: 'The membership request does not exist' },
  RequestAlreadyOpen: { kind: 'conflict', message: 'An open request for this membership already exists' },
  AlreadyMember: { kind: 'conflict', message: 'The identity is already a member' },
  InvalidRequestState: { kind: 'conflict', message: "This action is not allowed in the request's current state" },
  NotEligible: { kind: 'forbidden', message: 'The join policy does not allow this identity to join' },
  NoApprover: { kind: 'conflict', message: 'The first approval gate has no approver other than the requester' },
  InvalidEnd: { kind: 'invalid', message: 'The value is not a date or timestamp in the future' },
  EndTooLate: { kind: 'invalid', message: 'The membership would last longer than the join policy allows' },
  EndNotLater: { kind: 'invalid', message: 'An extension must end later than the membership, which must have an end' },
  LifecycleTooLarge: {
    kind: 'conflict',
    message: 'The lifecycle of the membership has more than 256 KB of JSON. It cannot be extended any more',
  },
  InvalidPeriod: { kind: 'invalid', message: 'A deputy must begin before the end, for at most 180 days' },
  DeputyIsSelf: { kind: 'invalid', message: 'A deputy must be another identity' },
  NotesRequired: { kind: 'invalid', message: 'The join policy requires a reason for a rejection, in notes' },
  NotManager: { kind: 'forbidden', message: "Only the person's manager can perform this action" },
  NotRequester: {
    kind: 'forbidden',
    message: 'Only the requester, or others whom the description of the action names, can perform it',
  },
  NotCurrentApprover: { kind: 'forbidden', message: 'Only a current approver can decide on the request' },
  SelfApproval: { kind: 'forbidden', message: 'Requesters cannot decide on their own requests' },

  // Conditions
  RootNotGroup: { kind: 'invalid', message: 'The root of a condition must be a group' },
  InvalidNode: { kind: 'invalid', message: 'A condition consists of groups and leaves' },
  InvalidMember: { kind: 'invalid', message: 'A property of a group or leaf is not valid' },
  UnknownGroupOperator: { kind: 'invalid', message: 'The group operator does not exist' },
  AnyPositionNested: { kind: 'invalid', message: 'A group over AnyPosition cannot be within another one' },
  AnyPositionNotAllowed: { kind: 'invalid', message: 'Collections of org units cannot have a group over AnyPosition' },
  EmptyGroup: { kind: 'invalid', message: 'A group must have at least one condition' },
  FieldNotInSchema: { kind: 'invalid', message: 'The field does not exist in the schema' },
  FieldNotNamedById: { kind: 'invalid', message: 'The field does not read the attribute that id names' },
  UnknownFunction: { kind: 'invalid', message: 'The function does not exist' },
  InvalidFunctionArgument: { kind: 'invalid', message: 'A function argument is not valid' },
  FunctionNotAllowed: { kind: 'invalid', message: 'The function does not support the type of the field' },
  NestedFunctions: { kind: 'invalid', message: 'Nested functions not allowed on DateTime field' },
  TooManyFunctions: { kind: 'invalid', message: 'A field has too many nested functions' },
  UnknownOperator: { kind: 'invalid', message: 'The operator does not exist' },
  OperatorNotAllowed: { kind: 'invalid', message: 'The operator does not support the type of the field' },
  ValueTypeMismatch: { kind: 'invalid', message: 'The value is of another type than the field' },
  ListRequired: { kind: 'invalid', message: 'The operator requires a list of values' },
  ConditionTooLarge: { kind: 'invalid', message: 'The JSON of the condition has more than 128 KB' },
  ConditionTooDeep: { kind: 'invalid', message: 'The condition has too many levels' },
  TooManyLeaves: { kind: 'invalid', message: 'The condition has too many leaves' },
  TooManyEntries: { kind: 'invalid', message: 'A list in the condition has too many entries' },

  // Group links and sync jobs
  LinkNotFound: { kind: 'missing', message: 'The group link does not exist' },
  LinkDisabled: { kind: 'conflict', message: 'The group link is disabled' },
  SyncJobNotFound: { kind: 'missing', message: 'The sync job does not exist' },
  GroupAlreadyLinked: { kind: 'conflict', message: 'The directory group is already linked to a collection' },
  ObjectTypeNotLinkable: { kind: 'invalid', message: 'Collections of this object type have no directory accounts' },
  CollectionNotVerified: { kind: 'upstream', message: 'The collection could not be verified' },
  GroupNotFound: { kind: 'forbidden', message: 'The directory group does not exist' },
  GroupMembershipIsDynamic: {
    kind: 'forbidden',
    message: 'The directory manages the members of this group by a dynamic membership rule',
  },
  GroupIsMailEnabled: {
    kind: 'forbidden',
    message: 'The group is a distribution list or a mail-enabled security group',
  },
  GroupIsSyncedFromOnPremises: { kind: 'forbidden', message: 'The group is synchronized from on-premises' },
  GroupIsRoleAssignable: { kind: 'forbidden', message: 'The group is role-assignable' },
  GroupHasHiddenMembership: { kind: 'forbidden', message: 'The membership of the group is hidden' },
  GroupManagementIsRestricted: {
    kind: 'forbidden',
    message: 'The group is in a restricted management administrative unit',
  },
  GroupNotOwned: { kind: 'forbidden', message: 'The service principal of this service is not an owner of the group' },
  SameActor: {
    kind: 'forbidden',
    message:
      'Another person has to approve: the settings exclude who caused the removals, and those of a new link also who ' +
      'created or enabled it or changed the definition last',
  },
  VersionNotFound: { kind: 'missing', message: 'The collection has no such version' },
  PlanNotFound: { kind: 'missing', message: 'The link has no held removals' },
  PlanChanged: { kind: 'conflict', message: 'The plan no longer describes exactly what would be done' },
  PlanExpired: { kind: 'conflict', message: 'The plan has expired, or does not exist for this collection' },
  GroupNotVerified: { kind: 'upstream', message: 'The directory group could not be verified' },

  // Limits of a tenant
  SubscriptionNotFound: { kind: 'missing', message: 'The event subscription does not exist' },
  SubscriptionDisabled: { kind: 'conflict', message: 'The event subscription is disabled' },

  QuotaExceeded: { kind: 'conflict', message: 'A quota of the tenant is used up' },

  // Concurrency
  StaleVersion: { kind: 'conflict', message: 'The record was changed by another request at the same time' },
} as const satisfies Record<string, RefusalDefinition>

export type RefusalCode = keyof typeof REFUSALS
