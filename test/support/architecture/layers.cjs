// Which folder may import which, as README describes. Run by `npm run check -- layers` and counted by layers.test.ts.
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'domain-is-pure',
      comment: 'The domain has no side effects: it imports itself, the kernel and the schema library.',
      severity: 'error',
      from: { path: '^shared/domain' },
      to: { pathNot: '^(shared/(domain|kernel)|node_modules/(typebox|lru-cache))' },
    },
    {
      name: 'kernel-at-the-bottom',
      comment: 'Domain and adapters import the kernel. The kernel imports neither.',
      severity: 'error',
      from: { path: '^shared/kernel' },
      to: {
        pathNot: '^(shared/kernel|node_modules/(typebox|lru-cache|@opentelemetry/(api|core|context-async-hooks)))',
      },
    },
    {
      name: 'concepts-in-one-direction',
      comment: 'Folders of the domain depend on each other in one direction.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^shared/domain/' },
      to: { circular: true },
    },
    {
      name: 'host-at-the-edge',
      comment: 'Only the triggers know the Functions library.',
      severity: 'error',
      from: { path: '^(shared|test|infra)', pathNot: '^test/support/local/host-fixtures/' },
      to: { path: 'node_modules/@azure/functions', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'shared-below-functions',
      severity: 'error',
      from: { path: '^shared' },
      to: { path: '^(functions|infra|test)' },
    },
    {
      name: 'functions-below-infra',
      severity: 'error',
      from: { path: '^functions' },
      to: { path: '^(infra|test)' },
    },
    {
      name: 'console-uses-the-api',
      comment: 'The console calls the API. Of the service it uses types, and what conditions consist of.',
      severity: 'error',
      from: { path: '^functions/console/' },
      to: {
        path: '^(functions/(app|routes)|shared)/',
        pathNot: '^shared/domain/criteria/(condition|operators-of-types|schema)[.]ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'console-in-the-browser',
      comment: 'The functions serve the built console and do not import its code.',
      severity: 'error',
      from: { path: '^(functions|shared|infra)', pathNot: '^functions/console/' },
      to: { path: '^functions/console/' },
    },
    {
      name: 'infra-below-test',
      severity: 'error',
      from: { path: '^infra' },
      to: { path: '^test' },
    },
    {
      name: 'adapters-do-not-meet',
      comment: 'Only the composition root joins adapters.',
      severity: 'error',
      from: { path: '^shared/(cosmos|graph|messaging|auth|http|settings|telemetry)/' },
      to: { path: '^shared/(cosmos|graph|messaging|auth|http|openapi|settings|telemetry)/', pathNot: '^shared/$1/' },
    },
    {
      name: 'openapi-describes-http',
      comment: 'The API description reads the route tables and knows no other adapter.',
      severity: 'error',
      from: { path: '^shared/openapi/' },
      to: { path: '^shared/(cosmos|graph|messaging|auth|settings|telemetry)/' },
    },
    {
      name: 'telemetry-in-one-place',
      comment:
        'Code may use the API of OpenTelemetry, which does nothing without an SDK; kernel/tracing adds context and ' +
        'propagation. The SDK and the exporter load only where telemetry is exported.',
      severity: 'error',
      from: { path: '^(functions|shared|infra)', pathNot: '^shared/(telemetry|kernel)/' },
      to: {
        path: 'node_modules/(@opentelemetry|@azure/monitor-opentelemetry-exporter)',
        pathNot: 'node_modules/@opentelemetry/api/',
      },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'production-needs-no-development-package',
      severity: 'error',
      from: { path: '^(functions|shared)', pathNot: '^functions/console/' },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
  },
}
