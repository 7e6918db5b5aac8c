/**
 * Random bytes, fetched many at a time: asking for sixteen at a time costs more
 * than all the rest of an append.
 *
 * @param poolBytes How many are fetched at once.
 * @returns A function that gives bytes nobody else gets.
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
      // A new one, because what was given away still points into the old one.
      pool = crypto.getRandomValues(new Uint8Array(poolBytes));
      used = 0;
    }
    return pool.subarray(used, used += length);
  };
}
