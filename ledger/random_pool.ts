/**
 * Random bytes, fetched many at a time, because fetching sixteen at a time takes
 * longer than the rest of an append.
 *
 * @param poolBytes How many are fetched at once.
 * @returns A function that gives bytes that no other call gets.
 */
export function randomPool(
  poolBytes = 4096,
): (length: number) => Uint8Array<ArrayBuffer> {
  let pool = new Uint8Array(0);
  let used = 0;
  return (length) => {
    if (length > poolBytes) {
      return crypto.getRandomValues(new Uint8Array(length));
    }
    if (used + length > pool.length) {
      // A new pool, because bytes given before still point into the old one.
      pool = crypto.getRandomValues(new Uint8Array(poolBytes));
      used = 0;
    }
    return pool.subarray(used, used += length);
  };
}
