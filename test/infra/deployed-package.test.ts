import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import { projectFolder, readProjectText } from '../support/infra/project-facts.ts'

describe('a deployment runs the tested package as it is', () => {
  it('with azd, which builds TypeScript projects again in Azure by default', () => {
    const { services, requiredVersions } = parse(readProjectText('azure.yaml'))
    assert.equal(services.api.remoteBuild, false)
    // Older versions ignore remoteBuild.
    assert.equal(requiredVersions.azd, '>= 1.23.5')
    assert.match(readProjectText('infra/README.md'), /`azd` 1\.23\.5 or later/)
    // azd refuses remoteBuild: false beside a file that excludes node_modules.
    assert.ok(!existsSync(join(projectFolder, '.funcignore')))
  })

  it('without azd', () => {
    assert.match(readProjectText('infra/README.md'), /config-zip [^`]*--build-remote false/)
  })
})
