const POOL_BYTES = 4096;

/**
 * Random bytes, fetched many at a time, because fetching sixteen at a time takes
 * longer than the rest of an append.
 */
export function randomPool(): (length: number) => Uint8Array<ArrayBuffer> {
  let pool = new Uint8Array(0);
  let used = 0;
  return (length) => {
    if (length > POOL_BYTES) {
      return crypto.getRandomValues(new Uint8Array(length));
    }
    if (used + length > pool.length) {
      // A new pool, because bytes given before still point into the old one.
      pool = crypto.getRandomValues(new Uint8Array(POOL_BYTES));
      used = 0;
    }
    return pool.subarray(used, used += length);
  };
}
