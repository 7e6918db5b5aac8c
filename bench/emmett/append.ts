import type { Comparison } from "../measuring/comparison.ts";
import { appendRate } from "../measuring/append_rate.ts";
import { ratioRow } from "../measuring/comparison.ts";
import { delivery } from "../events.ts";
import { installEmmett } from "./install_emmett.ts";
import { openLedger } from "../../ledger/mod.ts";
import { limitOf } from "../measuring/machine_usage.ts";
import { runJson, withFolder } from "../process.ts";
import { interleave } from "../measuring/rounds.ts";

const callers = 64;
const rounds = 3;
const appends = 40_000;
const seconds = 2;

/** Durable appends of concurrent callers against emmett-sqlite. */
export const append: Comparison = {
  name: "append",
  note: "Each of 64 callers appends one event, waits for its commit, and " +
    "appends the next. Ours digests and indexes each delivery, and commits " +
    "all that wait at once, in a database thread, with synchronous=FULL. The " +
    "other side is emmett-sqlite's appendToStream, one event to a new stream " +
    "at a time, also with synchronous=FULL and WAL: once with one connection " +
    "for all callers, who take turns because it bears one transaction at a " +
    "time, and once as its options open a file, a connection for each append, " +
    "where a second caller would fail. Its driver `sqlite3`, which compiles " +
    "native code when it is installed, is replaced by the runtime's own " +
    "SQLite, which is faster: with `sqlite3` it appends about half as much.",
  run: ({ say }) =>
    withFolder(async (folder) => {
      const packages = await installEmmett(folder);
      await using ledger = await openLedger({
        url: `file:${folder}/ours.db`,
        environment: "sandbox",
      });
      let minted = 0;
      const ours = async (): Promise<number> => {
        const deliveries = Array.from({ length: appends }, () =>
          delivery(minted++));
        const perSecond = await appendRate(ledger, deliveries, callers);
        say(`ours: ${Math.round(perSecond)}/s`);
        return perSecond;
      };
      const emmett = async (mode: "shared" | "opened"): Promise<number> => {
        const perSecond = await runJson<number>({
          args: [
            "run",
            "--node-modules-dir=manual",
            "--no-lock",
            "--allow-env",
            "--allow-read",
            "--allow-write",
            "--allow-sys",
            new URL("./emmett_peer.ts", import.meta.url).pathname,
            packages,
            `${folder}/${mode}.db`,
            mode,
            String(seconds),
          ],
          cwd: folder,
        });
        say(`emmett-sqlite, ${mode}: ${Math.round(perSecond)}/s`);
        return perSecond;
      };
      await ours();
      const results = await interleave(rounds, {
        ours,
        shared: () =>
          emmett("shared"),
        opened: () => emmett("opened"),
      }, { say });
      const row = (name: string, mode: "shared" | "opened", bound: number) =>
        ratioRow(name, {
          ours: results.ours.results,
          theirs: results[mode].results,
          unit: "appends/s",
          at: "least",
          bound,
          limit: limitOf(results.ours.usages, "the disk"),
        });
      return [
        row("append, 64 callers, peer with one connection", "shared", 10),
        row("append, 64 callers, peer as it opens a file", "opened", 50),
      ];
    }),
};
