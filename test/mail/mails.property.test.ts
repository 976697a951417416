import { mailsProperty } from '../support/mail/mails-property.ts'

mailsProperty({ runs: 25 })
