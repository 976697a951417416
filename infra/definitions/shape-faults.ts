import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Json } from '../../shared/kernel/json.ts'
import { definitionSchema, type FileKind } from './definition-schema.ts'

export type ShapeFault = {
  readonly pointer: string
  readonly message: string
  /** The name of the member is wrong, not its value. */
  readonly isName?: true
}

let validators: Ajv2020 | undefined

function validatorOf(kind: FileKind): ValidateFunction {
  if (validators === undefined) {
    validators = new Ajv2020({ allErrors: true, strict: false })
    addFormats.default(validators)
    validators.addSchema(definitionSchema(), 'definitions')
  }
  const validator = validators.getSchema(`definitions#/$defs/${kind}`)
  if (validator === undefined) throw new Error(`There is no schema of ${kind}`)
  return validator
}

/**
 * How a value differs from the schema of its kind. A condition is looked at only as far as it is an object: the API
 * accepts more than its description says, such as operators in any case, and explains its refusals better.
 */
export function shapeFaults(kind: FileKind, value: Json): ShapeFault[] {
  const validate = validatorOf(kind)
  validate(value)
  const errors = (validate.errors ?? []).filter(
    ({ instancePath, keyword }) =>
      !instancePath.startsWith('/condition/') && !(instancePath === '/condition' && keyword !== 'type'),
  )
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf')
  const isPartOfChoice = (error: ErrorObject): boolean =>
    choices.some((choice) => choice !== error && error.schemaPath !== choice.schemaPath && within(error, choice))
  const faults = errors.filter((error) => !isPartOfChoice(error)).map(shapeFault)
  return [...new Map(faults.map((fault) => [`${fault.pointer} ${fault.message}`, fault])).values()]
}

const within = ({ instancePath }: ErrorObject, choice: ErrorObject): boolean =>
  instancePath === choice.instancePath || instancePath.startsWith(`${choice.instancePath}/`)

function shapeFault({ instancePath, keyword, params, message = 'is invalid' }: ErrorObject): ShapeFault {
  const name = instancePath.split('/').at(-1)
  const subject = name === undefined || name === '' ? 'The file' : name
  switch (keyword) {
    case 'additionalProperties': {
      const member = String(params.additionalProperty)
      return { pointer: `${instancePath}/${member}`, message: `There is no member ${member} here`, isName: true }
    }
    case 'required':
      return { pointer: instancePath, message: `${params.missingProperty} is required` }
    case 'enum':
      return { pointer: instancePath, message: `${subject} must be one of ${params.allowedValues.join(', ')}` }
    case 'anyOf':
      return { pointer: instancePath, message: anyOfMessage(instancePath, subject) }
    default:
      return { pointer: instancePath, message: `${subject} ${message}` }
  }
}

function anyOfMessage(instancePath: string, subject: string): string {
  if (/\/(approvers|collectionIds)\/\d+$/.test(instancePath)) {
    return 'This must be an id, or collection: <name>'
  }
  return `${subject} has a value that is not allowed`
}
