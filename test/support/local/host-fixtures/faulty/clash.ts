import { app } from '@azure/functions'

app.http('same-name', { route: 'one', handler: () => ({}) })
app.http('Same-Name', { route: 'two', handler: () => ({}) })
