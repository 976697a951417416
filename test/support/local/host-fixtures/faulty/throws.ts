throw new Error('no luck today')
