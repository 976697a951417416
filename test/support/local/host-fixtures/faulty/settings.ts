import { app } from '@azure/functions'

app.serviceBusQueue('many', { connection: 'BUS', queueName: 'queue', cardinality: 'many', handler: () => {} })
app.serviceBusQueue('no-connection', { connection: 'ABSENT_BUS', queueName: 'queue', handler: () => {} })
app.timer('never', { schedule: '0 0 0 30 2 *', handler: () => {} })
app.timer('at-start', { schedule: '0 0 * * * *', runOnStartup: true, handler: () => {} })
app.timer('nonsense', { schedule: '0 0 25 * * *', handler: () => {} })
app.storageQueue('elsewhere', { connection: 'X', queueName: 'queue', handler: () => {} })
