import assert from "node:assert/strict";

/** Long enough for a machine that is busy with other tests. */
const PATIENCE_MS = 120_000;

/** Waits until something holds; fails after two minutes. */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string = holds.toString(),
): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  while (!await holds()) {
    assert.ok(performance.now() < giveUpAt, `Still not so: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
