import type { Comparison } from "./measuring/comparison.ts";
import { ratioRow } from "./measuring/comparison.ts";
import { orderBody } from "./bodies.ts";
import { fillLedger, fillOrders } from "./fill_ledger.ts";
import { events } from "./events.ts";
import { type Ledger, openLedger } from "../ledger/mod.ts";
import { limitOf } from "./measuring/machine_usage.ts";
import { LEDGER_PERMISSIONS, runJson, withFolder } from "./process.ts";
import { consolePages, PAGES_NOTE } from "./pages.ts";
import { interleave } from "./measuring/rounds.ts";

const small = 10_000;
const large = 1_000_000;
const rounds = 5;
const appends = 64;
const eventsOfAppend = 64;

/** What appends, folds and pages cost when the ledger has grown. */
export const growth: Comparison = {
  name: "growth",
  note: "Two ledgers in files, of ten thousand events and of a million, each " +
    `of an order of its own. In turns, ${appends} appends of ` +
    `${eventsOfAppend} new events each go into one and the other, each ` +
    "committed and synced; the figures are the time of an append. Then a " +
    "process of its own folds the million from nothing: the most memory it " +
    "has held (RSS), against the most it held during the first fifth, when " +
    `its caches have filled. ${PAGES_NOTE}`,
  run: ({ say }) =>
    withFolder(async (folder) => {
      const url = `file:${folder}/large.db`;
      await using less = await open(`file:${folder}/small.db`);
      const more = await open(url);
      say(`filling a ledger with ${large} orders`);
      await fillLedger(less, { count: small });
      await fillOrders(more, {
        count: large,
        bodyOf: (order, times) => orderBody(order, order % 4, times),
      });
      let minted = large;
      const round = async (ledger: Ledger): Promise<number> => {
        const batches = Array.from({ length: appends }, () => {
          const batch = events(eventsOfAppend, minted);
          minted += eventsOfAppend;
          return batch;
        });
        const start = performance.now();
        for (const batch of batches) await ledger.append(batch);
        return (performance.now() - start) / appends;
      };
      await round(less);
      await round(more);
      const results = await interleave(rounds, {
        more: () => round(more),
        less: () => round(less),
      }, { say });
      await more.close();
      say("folding them");
      const memory = await runJson<RefoldMemory>({
        args: [
          "run",
          ...LEDGER_PERMISSIONS,
          "bench/refold_memory.ts",
          `${folder}/large.db`,
        ],
      });
      say("asking the console for pages");
      return [
        ratioRow("append at a million events, against ten thousand", {
          ours: results.more.results,
          theirs: results.less.results,
          unit: `ms for ${eventsOfAppend}`,
          at: "most",
          bound: 1.1,
          limit: limitOf(results.more.usages, "the disk"),
        }),
        ratioRow("memory of a fold of a million, against its first fifth", {
          ours: [memory.highestMb],
          theirs: [memory.firstFifthMb],
          unit: "MB",
          at: "most",
          bound: 1.1,
          limit: "not measured",
          details: { eventsPerSecond: memory.eventsPerSecond },
        }),
        ...await consolePages(url),
      ];
    }),
};

/** What `refold_memory.ts` says. */
export interface RefoldMemory {
  /** Highest memory of the first fifth, MB. */
  readonly firstFifthMb: number;
  /** Highest memory of all, MB. */
  readonly highestMb: number;
  /** Speed. */
  readonly eventsPerSecond: number;
}

function open(url: string): Promise<Ledger> {
  return openLedger({ url, environment: "sandbox" });
}
