/** How often what is done wrong on purpose was really done. */
let count = 0;

/** Says that a rule was broken just now. */
export function broke(): void {
  count++;
}

/** How often a rule was broken since the last call. */
export function takeBroken(): number {
  const taken = count;
  count = 0;
  return taken;
}
