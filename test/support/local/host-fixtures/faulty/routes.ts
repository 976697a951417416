import { app } from '@azure/functions'

app.http('open-brace', { route: 'things/{id', handler: () => ({}) })
app.http('admin-like', { route: 'administrators', handler: () => ({}) })
app.http('twin-one', { route: 'twins/{*id}', methods: ['GET', 'PUT'], handler: () => ({}) })
app.http('twin-two', { route: 'Twins/{*id}', methods: ['GET'], handler: () => ({}) })
