import type { FaultDefinition } from '../../../infra/local/directory/faults.ts'

/**
 * The refusal of a Microsoft 365 group whose setting `AllowToAddGuests` is false. A fault with it names the guest in
 * `body`. https://github.com/MicrosoftDocs/microsoft-365-docs/issues/11991
 */
export const NO_GUESTS = {
  path: '^/v1.0/groups/',
  status: 403,
  message:
    'Guests users are not allowed to join this Unified Group due to policy setting. paramName: Members, paramValue: , ' +
    'objectType: Microsoft.Online.DirectoryServices.Group',
} as const satisfies FaultDefinition
