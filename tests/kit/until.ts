import assert from "node:assert/strict";

/** Long enough for a machine that is busy with other tests. */
const PATIENCE_MS = 120_000;
const LONGEST_PAUSE_MS = 50;

/**
 * Waits until something holds; fails after two minutes.
 *
 * @param holds Asked again and again, less and less often.
 * @param what Says what is waited for. @default {the text of `holds`}
 */
export async function until(
  holds: () => boolean | Promise<boolean>,
  what: string = holds.toString(),
): Promise<void> {
  const giveUpAt = performance.now() + PATIENCE_MS;
  for (let pauseMs = 2; !await holds(); pauseMs *= 2) {
    assert.ok(performance.now() < giveUpAt, `Still not so: ${what}`);
    const ms = Math.min(pauseMs, LONGEST_PAUSE_MS);
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}
