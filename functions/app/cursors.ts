import { randomBytes } from 'node:crypto'
import { storedCursorKeys } from '../../shared/cosmos/cursor-key-store.ts'
import { cursors, type OpenCursors } from '../../shared/http/paging.ts'
import { nowMs } from './clock.ts'
import { container } from './foundation.ts'
import { settings } from './settings.ts'

const KEY_BYTES = 32

const stored = storedCursorKeys(container('tenants'), () => randomBytes(KEY_BYTES).toString('base64'), nowMs)

/** By the keys of the settings, or else by those that the database keeps. */
export const openCursors: OpenCursors = async () =>
  cursors(settings.cursorKeys.length > 0 ? settings.cursorKeys : await stored())
