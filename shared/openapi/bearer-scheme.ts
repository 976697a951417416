/** The name of the security scheme in the API description. */
export const BEARER_SCHEME = 'bearer'
