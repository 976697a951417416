import { app } from '@azure/functions'

app.serviceBusQueue('no-queue', { connection: 'BUS', queueName: '%ABSENT%', handler: () => {} })
app.serviceBusQueue('no-connection', { connection: 'ABSENT_BUS', queueName: 'queue', handler: () => {} })
app.timer('never', { schedule: '0 0 0 30 2 *', handler: () => {} })
app.timer('nonsense', { schedule: '0 0 25 * * *', handler: () => {} })
app.storageQueue('elsewhere', { connection: 'X', queueName: 'queue', handler: () => {} })
