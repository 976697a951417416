import { readSettings } from '../../shared/settings/settings.ts'

/** Read as the triggers load, so that a faulty setting stops the start and not the first request. */
export const settings = readSettings()
