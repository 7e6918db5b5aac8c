/**
 * Appends with emmett-sqlite: `emmett_peer.ts PACKAGES FILE COUNT`, where
 * PACKAGES is a `node_modules` folder. All callers share one open connection and
 * take turns, because it bears one transaction at a time.
 *
 * @module
 */
import { pathToFileURL } from "node:url";
import { webhookBody } from "./bodies.ts";

/** What is used of the package. */
interface EmmettSqlite {
  sqliteConnection(options: { readonly fileName: string }): object;
  getSQLiteEventStore(options: {
    readonly fileName: string;
    readonly connectionOptions: {
      readonly singleton: true;
      readonly connection: object;
    };
  }): {
    appendToStream(
      stream: string,
      events: readonly { readonly type: string; readonly data: unknown }[],
    ): Promise<unknown>;
  };
}

const [packages, fileName = "", counted] = Deno.args;
const count = Number(counted);
const entry = `${packages}/@event-driven-io/emmett-sqlite/dist/index.js`;
const emmett: EmmettSqlite = await import(pathToFileURL(entry).href);
const store = emmett.getSQLiteEventStore({
  fileName,
  connectionOptions: {
    singleton: true,
    connection: emmett.sqliteConnection({ fileName }),
  },
});
let minted = 0;
let turn: Promise<unknown> = Promise.resolve();
const append = () => {
  const number = minted++;
  return store.appendToStream(`order-${number}`, [{
    type: "order_complete",
    data: JSON.parse(webhookBody(number, "new")),
  }]);
};
const appendUntil = (until: number) =>
  Promise.all(Array.from({ length: 64 }, async () => {
    while (minted < until) await (turn = turn.then(append));
  }));
// The first quarter warms it up.
await appendUntil(count / 4);
const before = minted;
const start = performance.now();
await appendUntil(count);
const perSecond = (minted - before) / (performance.now() - start) * 1000;
console.log(JSON.stringify({ perSecond }));
Deno.exit(0);
