export const registered = 'nothing'
