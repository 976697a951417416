import { mailsProperty } from '../support/mail/mails-property.ts'

/** `MAIL_RUNS` and `FAST_CHECK_SEED` set the number of runs and the seed. */
const { MAIL_RUNS = '25' } = process.env

mailsProperty({ runs: Number(MAIL_RUNS) })
