/** Memory of folding a ledger from nothing: `refold_memory.ts FILE`. */
import type { RefoldMemory } from "./growth.ts";
import { openLedger } from "../ledger/mod.ts";

if (import.meta.main) {
  await using ledger = await openLedger({
    url: `file:${Deno.args[0]}`,
    environment: "sandbox",
  });
  const total = (await ledger.stats()).position;
  const highest = { firstFifth: 0, all: 0 };
  const start = performance.now();
  const { events } = await ledger.project({
    onProgress: ({ position }) => {
      const { rss } = Deno.memoryUsage();
      highest.all = Math.max(highest.all, rss);
      if (position < total / 5) highest.firstFifth = highest.all;
    },
  });
  const mb = (bytes: number): number => Math.round(bytes / 1e6);
  const memory: RefoldMemory = {
    firstFifthMb: mb(highest.firstFifth),
    highestMb: mb(highest.all),
    eventsPerSecond: Math.round(events / (performance.now() - start) * 1000),
  };
  console.log(JSON.stringify(memory));
}
