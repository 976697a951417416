import { Type } from 'typebox'

/** What collections of any kind are searched by: decisions, section 6. */
export const SearchQuery = Type.Object({
  tags: Type.Optional(
    Type.Array(Type.String(), {
      description: 'All of which a collection has to have. Given again or separated by commas.',
    }),
  ),
  attributes: Type.Optional(
    Type.Array(Type.String(), {
      description: '`key:value`, all of which a collection has to have. May be given again.',
    }),
  ),
})
