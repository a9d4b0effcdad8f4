/** Headers of a callback: seconds since 1970, `v1=<hex>`, and the id that stays the same over all attempts. */
export const callbackHeaders = {
  timestamp: 'x-toolyard-timestamp',
  signature: 'x-toolyard-signature',
  delivery: 'x-toolyard-delivery'
} as const
