import type { CancellationReason } from './mail-item.ts'
import type { MailTexts } from './mail-texts.ts'

const REASONS: Readonly<Record<CancellationReason, string>> = {
  NotDecided: 'Den ble ikke avgjort i tide, eller samlingen er ikke lenger åpen for deg',
  Deleted: 'Stillingen din, eller oppføringen om deg, er slettet i kilden',
  HandedOver: 'Stillingen som den gjaldt, er overført til en annen person',
}

const endText = (isOver: boolean): string =>
  isOver ? 'Sluttdatoen er passert, så medlemskapet er over.' : 'Medlemskapet slutter når det skulle.'

export const norwegianMails: MailTexts = {
  languageTag: 'nb',
  kinds: {
    RequestWaiting: {
      subject: ({ requesterName, collectionName, isExtension }) =>
        isExtension
          ? `${requesterName} ber om å bli lenger i ${collectionName}`
          : `${requesterName} ber om å bli medlem av ${collectionName}`,
      paragraphs: ({ requesterName, collectionName, isExtension, onBehalfOf }) => [
        isExtension
          ? `${requesterName} er medlem av ${collectionName} og ber om en senere sluttdato. Forespørselen venter på din avgjørelse.`
          : `${requesterName} ber om å bli medlem av ${collectionName}. Forespørselen venter på din avgjørelse.`,
        ...(onBehalfOf === null ? [] : [`Du avgjør på vegne av ${onBehalfOf}, som stedfortreder.`]),
      ],
      action: 'Se på forespørselen',
    },
    RequestReminder: {
      subject: ({ requesterName, collectionName }) =>
        `Påminnelse: forespørselen fra ${requesterName} om ${collectionName} venter fortsatt`,
      paragraphs: ({ requesterName, collectionName, isExtension, onBehalfOf }) => [
        isExtension
          ? `${requesterName} har bedt om å bli lenger i ${collectionName}. Forespørselen venter fortsatt på en avgjørelse.`
          : `${requesterName} har bedt om å bli medlem av ${collectionName}. Forespørselen venter fortsatt på en avgjørelse.`,
        ...(onBehalfOf === null ? [] : [`Du kan avgjøre på vegne av ${onBehalfOf}, som stedfortreder.`]),
      ],
      action: 'Se på forespørselen',
    },
    RequestGranted: {
      subject: ({ collectionName, isExtension }) =>
        isExtension ? `Du kan bli lenger i ${collectionName}` : `Du er nå medlem av ${collectionName}`,
      paragraphs: ({ collectionName, isExtension, endsAtMs }, time) => [
        isExtension
          ? `Forespørselen din om å bli lenger i ${collectionName} er godkjent.`
          : `Forespørselen din er godkjent. Du er nå medlem av ${collectionName}.`,
        ...(endsAtMs === null ? [] : [`Medlemskapet slutter ${time(endsAtMs)}.`]),
      ],
      action: 'Se medlemskapene dine',
    },
    RequestRejected: {
      subject: ({ collectionName }) => `Forespørselen din om ${collectionName} er avslått`,
      paragraphs: ({ collectionName, isExtension, isOver }) => [
        isExtension
          ? `Forespørselen din om å bli lenger i ${collectionName} er avslått. ${endText(isOver)}`
          : `Forespørselen din om å bli medlem av ${collectionName} er avslått.`,
      ],
      action: 'Se forespørslene dine',
    },
    RequestCancelled: {
      subject: ({ collectionName, isExtension }) =>
        isExtension
          ? `Forespørselen din om å bli lenger i ${collectionName} er avsluttet uten avgjørelse`
          : `Forespørselen din om ${collectionName} er avsluttet uten avgjørelse`,
      paragraphs: ({ collectionName, isExtension, isOver, reason }) => [
        isExtension
          ? `Tjenesten har avsluttet forespørselen din om å bli lenger i ${collectionName}: ${REASONS[reason]}. ` +
            endText(isOver)
          : `Tjenesten har avsluttet forespørselen din om å bli medlem av ${collectionName}: ${REASONS[reason]}.`,
      ],
      action: 'Se forespørslene dine',
    },
    MembershipEnding: {
      subject: ({ collectionName }) => `Medlemskapet ditt i ${collectionName} slutter snart`,
      paragraphs: ({ collectionName, endsAtMs, staysUntilMs }, time) => [
        `Medlemskapet ditt i ${collectionName} slutter ${time(endsAtMs)}.`,
        staysUntilMs === null
          ? 'Hvis du fortsatt trenger det, kan du be om en senere sluttdato før den tid.'
          : 'En forespørsel om en senere sluttdato venter på en avgjørelse. Er den ikke avgjort innen den tid, fortsetter ' +
            `medlemskapet, men ikke lenger enn til ${time(staysUntilMs)}.`,
      ],
      action: 'Se medlemskapene dine',
    },
    LinkFailed: {
      subject: ({ groupName }) => `Gruppen ${groupName} kunne ikke synkroniseres`,
      paragraphs: ({ collectionName, groupName }) => [
        `Synkroniseringen av gruppen ${groupName} med samlingen ${collectionName} har mislyktes. Gruppen kan avvike fra ` +
          'samlingen til den lykkes.',
      ],
      action: 'Se gruppekoblingen',
    },
    LinkPaused: {
      subject: ({ groupName }) => `Ingen medlemmer fjernes fra gruppen ${groupName}`,
      paragraphs: ({ collectionName, groupName }) => [
        `Medlemmer av samlingen ${collectionName} har ingen konto i katalogen, eller en som katalogen ikke kjenner eller ikke ` +
          `godtar i gruppen. Så lenge det varer, får gruppen ${groupName} nye medlemmer, men ingen fjernes fra den.`,
      ],
      action: 'Se gruppekoblingen',
    },
    RemovalsHeld: {
      subject: ({ groupName }) => `Fjerninger fra gruppen ${groupName} venter på godkjenning`,
      paragraphs: ({ collectionName, groupName }) => [
        `Medlemmer av gruppen ${groupName} er ikke i samlingen ${collectionName}. De er flere enn det som kan fjernes i løpet av ` +
          '24 timer, eller samlingen er tom. De blir i gruppen til en administrator godkjenner fjerningene, eller til de er ' +
          'få nok.',
      ],
      action: 'Se på fjerningene',
    },
    ConnectorLate: {
      subject: ({ connectorName }) => `Kilden ${connectorName} er forsinket`,
      paragraphs: ({ connectorName }) => [
        `Kilden ${connectorName} har ikke sendt data innen forventet tid. Personer og stillinger blir som de sist ble sendt.`,
      ],
      action: 'Se kilden',
    },
    SubscriptionDisabled: {
      subject: ({ host }) => `Hendelsesabonnementet til ${host} er slått av`,
      paragraphs: ({ host, isGone }) => [
        isGone
          ? `Mottakeren på ${host} har svart at den ikke finnes mer. Den får ingen hendelser før abonnementet slås på igjen.`
          : `Mottakeren på ${host} har ikke tatt imot noen hendelse på fem dager. Den får ingen hendelser før abonnementet ` +
            'slås på igjen.',
      ],
      action: 'Åpne konsollen',
    },
  },
  digestSubject: (count) => (count === 1 ? '1 varsel' : `${count} varsler`),
  omittedHeading: (count) => (count === 1 ? '1 tidligere varsel er utelatt' : `${count} tidligere varsler er utelatt`),
  omittedForPerson: 'Innboksen viser hva som venter på at du avgjør det.',
  inboxAction: 'Åpne innboksen',
  reasonForPerson: 'Du får denne meldingen fordi du deltar i disse samlingene.',
  preferencesAction: 'Velg når du får meldinger',
  reasonForOperator: 'Du får denne meldingen fordi adressen din står blant driftsadressene i innstillingene.',
}
