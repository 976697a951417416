// Which folder may import which: architecture, "Folders". Run by `npm run check:layers` and counted by layers.test.ts.
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'domain-is-pure',
      comment: 'Rules know nothing of the world: the domain imports itself and the schema library.',
      severity: 'error',
      from: { path: '^shared/domain' },
      to: { pathNot: '^(shared/domain|node_modules/typebox)' },
    },
    {
      name: 'host-at-the-edge',
      comment: 'Only the triggers know the Functions library.',
      severity: 'error',
      from: { path: '^(shared|test|infra)', pathNot: '^test/local/host-fixtures/' },
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
      name: 'infra-below-test',
      severity: 'error',
      from: { path: '^infra' },
      to: { path: '^test' },
    },
    {
      name: 'adapters-do-not-meet',
      comment: 'Adapters are joined by the composition root alone.',
      severity: 'error',
      from: { path: '^shared/(cosmos|directory|messaging|auth|http|runtime|telemetry)/' },
      to: { path: '^shared/(cosmos|directory|messaging|auth|http|runtime|telemetry)/', pathNot: '^shared/$1/' },
    },
    {
      name: 'telemetry-in-one-place',
      comment: 'All others see the ports of activities and measures: nothing of it loads where nothing is exported.',
      severity: 'error',
      from: { path: '^(functions|shared|infra)', pathNot: '^shared/telemetry/' },
      to: { path: 'node_modules/(@opentelemetry|@azure/monitor-opentelemetry-exporter)' },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'production-needs-no-development-package',
      severity: 'error',
      from: { path: '^(functions|shared)' },
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
