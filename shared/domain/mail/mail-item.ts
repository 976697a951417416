type OfRequest = { readonly collectionName: string; readonly isExtension: boolean }

type NotGranted = OfRequest & {
  /** Whether it is an extension of a membership whose end had passed before. */
  readonly isOver: boolean
}

type ToApprover = OfRequest & {
  readonly requesterName: string
  /** Whom the recipient represents as a deputy; null for an approver. */
  readonly onBehalfOf: string | null
}

/**
 * Why the service has cancelled a request. `NotDecided`: not in time, or because the requester is no longer eligible.
 * `Deleted`: the position or the person was.
 */
export type CancellationReason = 'NotDecided' | 'Deleted' | 'HandedOver'

type OfLink = { readonly collectionName: string; readonly groupName: string }

/** What each kind of mail says. Names are those of the time of the mail. */
type Facts = {
  readonly RequestWaiting: ToApprover
  readonly RequestReminder: ToApprover
  /** `endsAtMs`: when the membership ends; null without an end. */
  readonly RequestGranted: OfRequest & { readonly endsAtMs: number | null }
  readonly RequestRejected: NotGranted
  readonly RequestCancelled: NotGranted & { readonly reason: CancellationReason }
  readonly MembershipEnding: {
    readonly collectionName: string
    readonly endsAtMs: number
    /** Until when the membership stays without a decision while a later end waits for one; null when none waits. */
    readonly staysUntilMs: number | null
  }
  readonly LinkFailed: OfLink
  readonly LinkPaused: OfLink
  readonly RemovalsHeld: OfLink
  readonly ConnectorLate: { readonly connectorName: string }
  readonly SubscriptionDisabled: { readonly host: string; readonly isGone: boolean }
}

export type MailKind = keyof Facts

export type ItemOf<Kind extends MailKind> = Facts[Kind] & {
  readonly kind: Kind
  /** The view of the console that shows it, for example `/me`. */
  readonly path: string
}

/** One thing that a mail tells. */
export type MailItem = { readonly [Kind in MailKind]: ItemOf<Kind> }[MailKind]

/** A mail for one recipient. Its parts say the same. */
export type MailContent = { readonly subject: string; readonly text: string; readonly html: string }
