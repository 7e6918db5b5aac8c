import type { Dice } from "./dice.ts";
import { check } from "./journal.ts";
import { passing } from "./virtual_time.ts";
import type { World } from "./world.ts";

const minuteMs = 60_000;

/** Sizes of the bodies that a forger stuffs the endpoint with, in bytes. */
const STUFFING_BYTES = [100_000, 70_000, 65_536, 60_000, 30_000, 12_000];

/**
 * A forger posts large bodies while the ledger takes nothing, until most of
 * them are refused, and then the service delivers.
 */
export async function stuff(world: World, dice: Dice): Promise<void> {
  const { front, plan, clock, journal } = world;
  const { weather } = front;
  if (plan.spool) {
    weather.outage = { code: "busy", untilMs: clock.now() + 5 * minuteMs };
  }
  const deliver = async (bytes: number): Promise<number> => {
    const head = `{"type":"stuffing","id":${dice.int(1e9, 9e9)},"with":"`;
    const body = `${head}${"x".repeat(bytes - head.length - 2)}"}`;
    const posted = world.post(new TextEncoder().encode(body));
    return (await passing(clock, posted, minuteMs)).status;
  };
  const refused = { large: 0, others: 0 };
  for (let left = 60; left > 0; left--) {
    const bytes = dice.pick(STUFFING_BYTES);
    if (await deliver(bytes) === 204) continue;
    // No fault of the store: it is refused for its size.
    journal.badAnswers.pop();
    refused[bytes > 65_536 ? "large" : "others"]++;
  }
  if (refused.large > 0) journal.count("large body refused");
  for (let left = 30; left > 0; left--) {
    const status = await deliver(8_000);
    check(
      "who sends large bodies keeps out no delivery",
      status === 204,
      () => `one was answered ${status}, after ${JSON.stringify(refused)}`,
    );
  }
  check(
    "large bodies are refused beyond their share",
    refused.large > 0,
    () => "none was",
  );
  weather.outage = null;
  await clock.advance(10 * minuteMs);
}
