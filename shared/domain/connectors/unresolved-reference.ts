/** A reference of a connector object to an object that does not exist, as stored with the core object. */
export type UnresolvedReference = {
  readonly connectorId: string
  readonly externalId: string
  readonly attribute: string
  /** The external id that it names. */
  readonly reference: string
  /** Set when the object was there and is deleted. */
  readonly isDeleted?: true
  /**
   * The core object that the missing one will have, unless it joins another. Another person can carry it at present, who
   * had the external id before. Of an `identity` only.
   */
  readonly expectedId?: string
}
