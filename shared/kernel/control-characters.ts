// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL_IN_LINES = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/

/** Whether a text has control characters, C0 or C1: they deceive readers, or are commands for a terminal. */
export function hasControls(text: string): boolean {
  return CONTROL.test(text)
}

/** Whether a text of several lines has control characters other than line feeds and tabs. */
export function hasControlsInLines(text: string): boolean {
  return CONTROL_IN_LINES.test(text)
}
