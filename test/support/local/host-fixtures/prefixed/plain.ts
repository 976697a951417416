import { app } from '@azure/functions'

app.http('plain', { route: 'plain', handler: () => ({ body: 'plain' }) })
