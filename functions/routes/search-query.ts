import { Type } from 'typebox'

/** What collections of any kind are searched by: decisions, section 6. */
export const SearchQuery = Type.Object({
  tags: Type.Optional(
    Type.Array(Type.String(), {
      description:
        'All of which a collection has to have. Given again or separated by commas. A tag that has commas itself is found by a parameter of its own: `tags=a%2Cb` finds what has the tag `a,b`, and what has both `a` and `b`.',
    }),
  ),
  attributes: Type.Optional(
    Type.Array(Type.String(), {
      description: '`key:value`, all of which a collection has to have. May be given again.',
    }),
  ),
})
