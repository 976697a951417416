import type { CancellationReason } from './mail-item.ts'
import type { MailTexts } from './mail-texts.ts'

const REASONS: Readonly<Record<CancellationReason, string>> = {
  NotDecided: 'it was not decided in time, or the collection is no longer open to you',
  Deleted: 'your position, or your own record, was deleted at its source',
  HandedOver: 'the position that it was for was handed over to another person',
}

const endText = (isOver: boolean): string =>
  isOver ? 'The end has passed, so the membership is over.' : 'The end of the membership stays as it was.'

export const englishMails: MailTexts = {
  languageTag: 'en',
  kinds: {
    RequestWaiting: {
      subject: ({ requesterName, collectionName, isExtension }) =>
        isExtension
          ? `${requesterName} asks to stay longer in ${collectionName}`
          : `${requesterName} asks to join ${collectionName}`,
      paragraphs: ({ requesterName, collectionName, isExtension, onBehalfOf }) => [
        isExtension
          ? `${requesterName} is a member of ${collectionName} and asks for a later end. The request waits for your decision.`
          : `${requesterName} asks to become a member of ${collectionName}. The request waits for your decision.`,
        ...(onBehalfOf === null ? [] : [`You decide on behalf of ${onBehalfOf}, as their deputy.`]),
      ],
      action: 'Review the request',
    },
    RequestReminder: {
      subject: ({ requesterName, collectionName }) =>
        `Reminder: the request of ${requesterName} for ${collectionName} is still waiting`,
      paragraphs: ({ requesterName, collectionName, isExtension, onBehalfOf }) => [
        isExtension
          ? `${requesterName} asked to stay longer in ${collectionName}. The request still waits for a decision.`
          : `${requesterName} asked to become a member of ${collectionName}. The request still waits for a decision.`,
        ...(onBehalfOf === null ? [] : [`You can decide on behalf of ${onBehalfOf}, as their deputy.`]),
      ],
      action: 'Review the request',
    },
    RequestGranted: {
      subject: ({ collectionName, isExtension }) =>
        isExtension ? `You can stay longer in ${collectionName}` : `You are now a member of ${collectionName}`,
      paragraphs: ({ collectionName, isExtension, endsAtMs }, time) => [
        isExtension
          ? `Your request to stay longer in ${collectionName} was approved.`
          : `Your request was approved. You are now a member of ${collectionName}.`,
        ...(endsAtMs === null ? [] : [`The membership ends on ${time(endsAtMs)}.`]),
      ],
      action: 'See your memberships',
    },
    RequestRejected: {
      subject: ({ collectionName }) => `Your request for ${collectionName} was rejected`,
      paragraphs: ({ collectionName, isExtension, isOver }) => [
        isExtension
          ? `Your request to stay longer in ${collectionName} was rejected. ${endText(isOver)}`
          : `Your request to become a member of ${collectionName} was rejected.`,
      ],
      action: 'See your requests',
    },
    RequestCancelled: {
      subject: ({ collectionName, isExtension }) =>
        isExtension
          ? `Your request to stay longer in ${collectionName} has ended without a decision`
          : `Your request for ${collectionName} has ended without a decision`,
      paragraphs: ({ collectionName, isExtension, isOver, reason }) => [
        isExtension
          ? `Your request to stay longer in ${collectionName} was cancelled by the service: ${REASONS[reason]}. ` +
            endText(isOver)
          : `Your request to become a member of ${collectionName} was cancelled by the service: ${REASONS[reason]}.`,
      ],
      action: 'See your requests',
    },
    MembershipEnding: {
      subject: ({ collectionName }) => `Your membership of ${collectionName} ends soon`,
      paragraphs: ({ collectionName, endsAtMs, staysUntilMs }, time) => [
        `Your membership of ${collectionName} ends on ${time(endsAtMs)}.`,
        staysUntilMs === null
          ? 'If you still need it, ask for a later end before then.'
          : 'A request for a later end waits for a decision. Without a decision by then, the membership stays, until ' +
            `${time(staysUntilMs)} at the latest.`,
      ],
      action: 'See your memberships',
    },
    LinkFailed: {
      subject: ({ groupName }) => `The group ${groupName} could not be synchronized`,
      paragraphs: ({ collectionName, groupName }) => [
        `Synchronizing the group ${groupName} with the collection ${collectionName} has failed. The group can differ ` +
          'from the collection until it succeeds.',
      ],
      action: 'See the group link',
    },
    LinkPaused: {
      subject: ({ groupName }) => `No members are removed from the group ${groupName}`,
      paragraphs: ({ collectionName, groupName }) => [
        `Members of the collection ${collectionName} have no account in the directory, or one that the directory does not know ` +
          `or does not accept in this group. As long as this lasts, the group ${groupName} gets new members, but nobody is ` +
          'removed from it.',
      ],
      action: 'See the group link',
    },
    RemovalsHeld: {
      subject: ({ groupName }) => `Removals from the group ${groupName} wait for approval`,
      paragraphs: ({ collectionName, groupName }) => [
        `Members of the group ${groupName} are not in the collection ${collectionName}. They are more than may be removed within ` +
          '24 hours, or the collection is empty. They stay in the group until an administrator approves the removals, or ' +
          'until there are few enough of them.',
      ],
      action: 'Review the removals',
    },
    ConnectorLate: {
      subject: ({ connectorName }) => `The connector ${connectorName} is late`,
      paragraphs: ({ connectorName }) => [
        `The connector ${connectorName} has sent no data within its expected interval. People and positions stay as they ` +
          'were sent last.',
      ],
      action: 'See the connector',
    },
    SubscriptionDisabled: {
      subject: ({ host }) => `The event subscription to ${host} was disabled`,
      paragraphs: ({ host, isGone }) => [
        isGone
          ? `The receiver at ${host} answered that it is gone. It gets no events until the subscription is enabled again.`
          : `The receiver at ${host} has accepted no event for five days. It gets no events until the subscription is ` +
            'enabled again.',
      ],
      action: 'Open the console',
    },
  },
  digestSubject: (count) => (count === 1 ? '1 notification' : `${count} notifications`),
  omittedHeading: (count) =>
    count === 1 ? '1 earlier notification is left out' : `${count} earlier notifications are left out`,
  omittedForPerson: 'The inbox shows what waits for your decision.',
  inboxAction: 'Open the inbox',
  reasonForPerson: 'You get this message because you take part in these collections.',
  preferencesAction: 'Choose when you get messages',
  reasonForOperator: 'You get this message because your address is one of the operators in the settings.',
}
