import { httpGroup } from '../host/http-group.ts'

export const handle = httpGroup({ prefix: '', routes: [] })
