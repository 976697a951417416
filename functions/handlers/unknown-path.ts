import { httpGroup } from '../app/http-group.ts'

export const handle = httpGroup({ prefix: '', routes: [] })
