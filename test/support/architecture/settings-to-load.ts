/** The settings that the app needs in order to load. No server is behind them. */
export const APP_SETTINGS = {
  SERVICE_CLIENT_ID: '11111111-1111-4111-8111-111111111111',
  HOME_TENANT_ID: '22222222-2222-4222-8222-222222222222',
  GRAPH_CLIENT_SECRET: 'not-used',
  COSMOS_ENDPOINT: 'http://127.0.0.1:9',
  COSMOS_KEY: Buffer.alloc(64).toString('base64'),
  ServiceBus: 'Endpoint=sb://127.0.0.1:9;SharedAccessKeyName=x;SharedAccessKey=y;UseDevelopmentEmulator=true',
}
