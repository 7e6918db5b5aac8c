import type { SandboxEngine } from "../service/sandbox_engine.ts";

const HOUR_MS = 3_600_000;

/** The `Date` header of an answer, right or wrong. */
export function statedDate(engine: SandboxEngine): string {
  const { injector, counters } = engine;
  const nowMs = engine.now();
  if (!injector.strikes("wrongDate")) return new Date(nowMs).toUTCString();
  counters.wrongDates++;
  const random = injector.stream("wrongDate.ms");
  const wrongMs = random.pick([
    Date.UTC(2099, 0, 1),
    Date.UTC(1970, 0, 2),
    nowMs + random.int(1, 14) * HOUR_MS,
    nowMs - random.int(1, 14) * HOUR_MS,
  ]);
  return new Date(wrongMs).toUTCString();
}
