import type { Comparison } from "./measuring/comparison.ts";
import { appendRate } from "./measuring/append_rate.ts";
import { ratioRow } from "./measuring/comparison.ts";
import { delivery, events } from "./events.ts";
import { type Ledger, openLedger } from "../ledger/mod.ts";
import { startSqld } from "../ledger/testing/sqld_test_server.ts";
import { limitOf } from "./measuring/machine_usage.ts";
import { withFolder } from "./process.ts";
import { interleave, rate } from "./measuring/rounds.ts";

const callers = 64;
const rounds = 2;
const appends = 3_200;
/** Of one request: what its limit of ten seconds lets pass on a busy machine. */
const eventsOfAppend = 500;
/** A thousand orders. */
const folded = 7_000;

/** A ledger on a server against one in a file. */
export const remote: Comparison = {
  name: "remote",
  note:
    "The same ledger on a sqld of this machine, over HTTP, and in a file. " +
    `Each of ${callers} callers appends a delivery, waits for its commit, and ` +
    "appends the next, as the spool of a machine is moved; then " +
    `${folded.toLocaleString("en")} events of ` +
    `${(folded / 7).toLocaleString("en")} orders are folded and chained. The ` +
    "server commits with synchronous=NORMAL, the file with FULL.",
  run: ({ say }) =>
    withFolder(async (folder) => {
      const directory = `${folder}/sqld`;
      await Deno.mkdir(directory);
      await using server = await startSqld({ directory });
      await using ours = await open(server.url);
      await using theirs = await open(`file:${folder}/ledger.db`);
      let minted = 0;
      let made = 0;
      const append = (ledger: Ledger) => async () => {
        const deliveries = Array.from({ length: appends }, () =>
          delivery(minted++));
        const perSecond = await appendRate(ledger, deliveries, callers);
        await ledger.project();
        return perSecond;
      };
      const fold = (ledger: Ledger) => async () => {
        // Numbers of orders that no delivery has named.
        const first = 70_000_000 + made;
        made += folded;
        for (let at = 0; at < folded; at += eventsOfAppend) {
          await ledger.append(events(eventsOfAppend, first + at));
        }
        return await rate(async () => {
          await ledger.project();
          return folded;
        });
      };
      for (const ledger of [ours, theirs]) {
        await append(ledger)();
      }
      const appended = await interleave(rounds, {
        ours: append(ours),
        theirs: append(theirs),
      }, { say });
      const projected = await interleave(rounds, {
        ours: fold(ours),
        theirs: fold(theirs),
      }, { say });
      const row = (name: string, found: typeof appended, unit: string) =>
        ratioRow(name, {
          ours: found.ours.results,
          theirs: found.theirs.results,
          unit,
          at: "least",
          bound: null,
          limit: limitOf(found.ours.usages, "the server"),
        });
      return [
        row("append on sqld, 64 callers; in a file", appended, "appends/s"),
        row("fold and chain on sqld; in a file", projected, "events/s"),
      ];
    }),
};

function open(url: string): Promise<Ledger> {
  return openLedger({ url, environment: "sandbox" });
}
