/** What sort of no it is. The HTTP status follows from it alone. */
export type RefusalKind =
  | 'invalid'
  | 'unauthenticated'
  | 'forbidden'
  | 'missing'
  | 'methodNotAllowed'
  | 'conflict'
  | 'stale'
  | 'unprocessable'
  | 'tooLarge'
  | 'unsupportedMediaType'
  | 'upstream'

type RefusalDefinition = { readonly kind: RefusalKind; readonly message: string }

/**
 * Every refusal there is: the closed list of `code`s that a caller can meet. Anything else that goes wrong is a fault,
 * which is logged and answered as a bare 500.
 */
export const REFUSALS = {
  // Finding the route, and who calls
  RouteNotFound: { kind: 'missing', message: 'No such path' },
  MethodNotAllowed: { kind: 'methodNotAllowed', message: 'The path does not take this method' },
  TokenMissing: { kind: 'unauthenticated', message: 'An access token is required: Authorization: Bearer <token>' },
  TokenInvalid: { kind: 'unauthenticated', message: 'The access token is not valid' },
  TokenNotVerified: { kind: 'upstream', message: 'The keys that access tokens are signed with cannot be had now' },
  RoleRequired: { kind: 'forbidden', message: 'The caller has none of the roles that this needs' },
  UsersOnly: { kind: 'forbidden', message: 'Only a user may do this, not an application' },
  CallerHasNoIdentity: { kind: 'forbidden', message: 'The caller has no identity among the core objects' },

  // Reading the request
  InvalidId: { kind: 'invalid', message: 'The id is not a GUID' },
  InvalidJson: { kind: 'invalid', message: 'The body is not JSON' },
  BodyRequired: { kind: 'invalid', message: 'A JSON body is required' },
  BodyTooLarge: { kind: 'tooLarge', message: 'The body is too large' },
  BodyTooDeep: { kind: 'invalid', message: 'The body nests deeper than 64 levels' },
  UnsupportedMediaType: { kind: 'unsupportedMediaType', message: 'The body has to be application/json' },
  MissingMember: { kind: 'invalid', message: 'A required member is missing' },
  InvalidType: { kind: 'invalid', message: 'A value is of the wrong type' },
  InvalidValue: { kind: 'invalid', message: 'A value is not allowed' },
  InvalidLength: { kind: 'invalid', message: 'A value is too long or too short' },
  InvalidCursor: { kind: 'invalid', message: 'The cursor was not made by this list' },
  IdempotencyKeyInvalid: { kind: 'invalid', message: 'Idempotency-Key has to be 1 to 255 printable characters' },
  IdempotencyKeyReused: { kind: 'unprocessable', message: 'The Idempotency-Key stands for another request' },
  IdempotencyKeyInUse: { kind: 'conflict', message: 'The first request with this Idempotency-Key is still at work' },
  PreconditionFailed: { kind: 'stale', message: 'The record has changed since the version that If-Match names' },

  // Connectors and core objects
  ConnectorNotFound: { kind: 'missing', message: 'No such connector' },
  ConnectorInUse: { kind: 'conflict', message: 'The connector still has live objects' },
  ConnectorDisabled: { kind: 'conflict', message: 'The connector is disabled' },
  ConnectorObjectNotFound: { kind: 'missing', message: 'No such object in the connector space' },
  ConnectorObjectExists: { kind: 'conflict', message: 'The connector space already has an object of this name' },
  NotThisConnector: { kind: 'forbidden', message: 'Only the application of the connector may touch its data' },
  UnknownAttribute: { kind: 'invalid', message: 'Objects of this type have no such attribute' },
  ReferenceToItself: { kind: 'invalid', message: 'An object cannot refer to itself' },
  ReferenceCycle: { kind: 'invalid', message: 'Org units cannot be their own ancestors' },
  DuplicateItem: { kind: 'invalid', message: 'The batch names the same object twice' },
  CoreObjectNotFound: { kind: 'missing', message: 'No such object' },

  // Collections
  CollectionNotFound: { kind: 'missing', message: 'No such collection' },
  CollectionUnknown: { kind: 'invalid', message: 'The collection does not exist' },
  CollectionInUse: { kind: 'conflict', message: 'Something still refers to the collection' },
  CircularReference: { kind: 'invalid', message: 'Criteria collections cannot refer to each other in a circle' },
  ObjectTypeNotSupported: { kind: 'invalid', message: 'Collections of this object type are not supported' },
  ObjectTypeFixed: { kind: 'invalid', message: 'The object type of a collection never changes' },
  DuplicateTag: { kind: 'invalid', message: 'A tag or attribute is given twice' },

  // Joinable collections and membership requests
  GateRequired: { kind: 'invalid', message: 'Approval is required, so there has to be an approval gate' },
  InvalidGateOrder: { kind: 'invalid', message: 'The order of a gate has to be 1 or more' },
  DuplicateGateOrder: { kind: 'invalid', message: 'Two gates have the same order' },
  UnknownGateType: { kind: 'invalid', message: 'There is no such type of gate' },
  DuplicateManagerGate: { kind: 'invalid', message: 'There can be one Manager gate only' },
  ApproversRequired: { kind: 'invalid', message: 'A gate of this type needs approvers' },
  ApproversNotAllowed: { kind: 'invalid', message: 'A Manager gate takes no approvers' },
  IdentityUnknown: { kind: 'invalid', message: 'The identity does not exist' },
  IdentityNotFound: { kind: 'missing', message: 'No such identity' },
  RelationshipUnknown: { kind: 'invalid', message: 'The relationship does not exist' },
  RelationshipEnded: { kind: 'invalid', message: 'The relationship has ended' },
  RelationshipRequired: { kind: 'invalid', message: 'There are several positions: relationshipId has to name one' },
  RelationshipNotYours: { kind: 'invalid', message: 'The relationship is held by somebody else' },
  RelationshipNotOfRequest: { kind: 'invalid', message: 'The request is for another position' },
  RequesterRequired: { kind: 'invalid', message: 'requesterId or relationshipId has to name the report' },
  RequestNotFound: { kind: 'missing', message: 'No such membership request' },
  RequestAlreadyOpen: { kind: 'conflict', message: 'There is an open request for this membership' },
  AlreadyMember: { kind: 'conflict', message: 'The membership is held already' },
  InvalidRequestState: { kind: 'conflict', message: 'The request cannot be acted on so in its present state' },
  NotEligible: { kind: 'forbidden', message: 'The join policy does not let this identity ask' },
  NotManager: { kind: 'forbidden', message: 'Only the manager of the person may do this' },
  NotRequester: { kind: 'forbidden', message: 'Only the person whose request it is may do this' },
  NotCurrentApprover: { kind: 'forbidden', message: 'Only the current approver may decide' },
  SelfApproval: { kind: 'forbidden', message: 'Nobody decides on their own request' },

  // Conditions
  RootNotGroup: { kind: 'invalid', message: 'The root of a condition has to be a group' },
  InvalidNode: { kind: 'invalid', message: 'A condition is made of groups and leaves' },
  MemberRequired: { kind: 'invalid', message: 'A group or leaf lacks a member' },
  InvalidMember: { kind: 'invalid', message: 'A member of a group or leaf is not valid' },
  UnknownGroupOperator: { kind: 'invalid', message: 'There is no such group operator' },
  EmptyGroup: { kind: 'invalid', message: 'A group has no conditions' },
  FieldNotInSchema: { kind: 'invalid', message: 'The field does not exist in the schema' },
  FieldNotNamedById: { kind: 'invalid', message: 'The field does not read the attribute that id names' },
  UnknownFunction: { kind: 'invalid', message: 'There is no such function' },
  InvalidFunctionArgument: { kind: 'invalid', message: 'A function has arguments that are not valid' },
  FunctionNotAllowed: { kind: 'invalid', message: 'The function makes no sense for the type of the field' },
  NestedFunctions: { kind: 'invalid', message: 'Nested functions not allowed on DateTime field' },
  TooManyFunctions: { kind: 'invalid', message: 'A field has too many functions around it' },
  UnknownOperator: { kind: 'invalid', message: 'There is no such operator' },
  OperatorNotAllowed: { kind: 'invalid', message: 'The operator makes no sense for the type of the field' },
  ListRequired: { kind: 'invalid', message: 'The operator takes a list' },
  ConditionTooDeep: { kind: 'invalid', message: 'The condition nests too deep' },
  TooManyLeaves: { kind: 'invalid', message: 'The condition has too many leaves' },
  TooManyEntries: { kind: 'invalid', message: 'A list of the condition has too many entries' },

  // Group links and sync jobs
  LinkNotFound: { kind: 'missing', message: 'No such group link' },
  LinkDisabled: { kind: 'conflict', message: 'The group link is disabled' },
  SyncJobNotFound: { kind: 'missing', message: 'No such sync job' },
  GroupAlreadyLinked: { kind: 'conflict', message: 'The directory group is already linked to a collection' },
  ObjectTypeNotLinkable: { kind: 'invalid', message: 'Collections of this object type have no directory accounts' },
  CollectionNotVerified: { kind: 'upstream', message: 'The collection could not be verified' },
  GroupNotFound: { kind: 'forbidden', message: 'The directory group does not exist' },
  GroupMembershipIsDynamic: { kind: 'forbidden', message: 'The directory fills the group by a rule of its own' },
  GroupIsMailEnabled: { kind: 'forbidden', message: 'The group is a distribution list or mail-enabled security group' },
  GroupIsSyncedFromOnPremises: { kind: 'forbidden', message: 'The group is mastered on premises' },
  GroupIsRoleAssignable: { kind: 'forbidden', message: 'The group can be assigned directory roles' },
  GroupHasHiddenMembership: { kind: 'forbidden', message: 'The membership of the group is hidden' },
  GroupNotVerified: { kind: 'upstream', message: 'The directory did not let the group be verified' },

  // Writing
  StaleVersion: { kind: 'conflict', message: 'Someone else changed the record at the same moment' },
} as const satisfies Record<string, RefusalDefinition>

export type RefusalCode = keyof typeof REFUSALS

/** One entry of the envelope's `errors`. `target`: JSON pointer into the body, or the name of a parameter. */
export type RefusalEntry = { readonly code: RefusalCode; readonly message: string; readonly target?: string }

/** A no that is told to the caller. Carries one entry or, for faulty input, all that is wrong with it at once. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly code: RefusalCode
  readonly entries: readonly RefusalEntry[]

  constructor(code: RefusalCode, message: string = REFUSALS[code].message, target?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    this.entries = [refusalEntry(code, message, target)]
  }

  /** A refusal with several entries, of which the first names code and message. There must be one at least. */
  static ofAll(entries: readonly RefusalEntry[]): Refusal {
    const first = entries[0]
    if (first === undefined) throw new Error('A refusal needs an entry')
    return Object.assign(new Refusal(first.code, first.message), { entries })
  }

  get kind(): RefusalKind {
    return REFUSALS[this.code].kind
  }
}

/** An entry with the register's message unless another, more precise one is given. */
export function refusalEntry(
  code: RefusalCode,
  message: string = REFUSALS[code].message,
  target?: string,
): RefusalEntry {
  return target === undefined ? { code, message } : { code, message, target }
}

/** Throws all entries as one refusal when there are any. */
export function throwIfRefused(entries: readonly RefusalEntry[]): void {
  if (entries.length > 0) throw Refusal.ofAll(entries)
}
