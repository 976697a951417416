/** Characters that a mail address may have in a header without quoting, and a domain with a dot. */
const LOCAL = "[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}"
const LABEL = '[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?'
export const MAIL_ADDRESS_PATTERN = `^${LOCAL}@${LABEL}(?:[.]${LABEL})+$`
const MAIL_ADDRESS = new RegExp(MAIL_ADDRESS_PATTERN)

const MAX_LENGTH = 254

/** Whether a text is one mail address, in ASCII and without a display name. */
export function isMailAddress(text: string): boolean {
  return text.length <= MAX_LENGTH && MAIL_ADDRESS.test(text)
}
