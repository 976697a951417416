/** Texts of mails to people and operators, and of the time zone. */
export const norwegianMail = {
  mailDaily: 'Én gang om dagen',
  mailDailyHint: 'Én e-post klokken 07.00, hvis det er noe å fortelle.',
  mailImmediately: 'Med en gang',
  mailImmediatelyHint: 'Det som overstiger 50 e-poster om dagen, kommer i én e-post klokken 07.00.',
  mailLanguage: 'Språk i e-post',
  mailLanguageHint: 'For driftsansvarlige, og for personer med ukjent språk.',
  mailNone: 'Aldri',
  mailNoneHint: 'Det som venter på en daglig e-post, blir ikke sendt.',
  mails: 'E-post',
  notifications: 'Varsler',
  notificationsHint:
    'E-post forteller deg om forespørsler som venter på deg, om avgjørelser om dine forespørsler, og om medlemskap som snart slutter.',
  operators: 'Driftsansvarlige',
  operatorsHint:
    'Høyst 10 e-postadresser, én på hver linje. De får vite om koblinger som feiler eller står på pause, om fjerninger som holdes tilbake, og om kilder som er forsinket.',
  timeZone: 'Tidssone',
  timeZoneHint:
    'Dager begynner i denne sonen: «i dag» og datoer i betingelser, og slutten på medlemskap. En endring når medlemmene innen et minutt.',
}
