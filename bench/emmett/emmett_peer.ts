/**
 * Appends with emmett-sqlite: `emmett_peer.ts PACKAGES FILE MODE SECONDS`,
 * where PACKAGES is a `node_modules` folder. It prints appends in a second.
 *
 * `shared` gives all callers one open connection, each waiting for its turn,
 * because a connection takes one transaction at a time. `opened` leaves
 * connections to the package, which opens one for each append; two at a time
 * fail, so there is one caller.
 */
import { pathToFileURL } from "node:url";

/** What is used of the package. */
interface EmmettSqlite {
  readonly sqliteConnection: (options: { readonly fileName: string }) => object;
  readonly getSQLiteEventStore: (options: {
    readonly fileName: string;
    readonly connectionOptions?: {
      readonly singleton: true;
      readonly connection: object;
    };
  }) => {
    readonly appendToStream: (
      stream: string,
      events: readonly { readonly type: string; readonly data: unknown }[],
    ) => Promise<unknown>;
  };
}

if (import.meta.main) {
  const { webhookBody } = await import("../bodies.ts");
  const [packages, fileName = "", mode, seconds] = Deno.args;
  const module: EmmettSqlite = await import(
    pathToFileURL(`${packages}/@event-driven-io/emmett-sqlite/dist/index.js`)
      .href
  );
  const store = module.getSQLiteEventStore(
    mode === "shared"
      ? {
        fileName,
        connectionOptions: {
          singleton: true,
          connection: module.sqliteConnection({ fileName }),
        },
      }
      : { fileName },
  );
  let minted = 0;
  let turn: Promise<unknown> = Promise.resolve();
  const append = (): Promise<unknown> => {
    const number = minted++;
    return store.appendToStream(`order-${number}`, [{
      type: "order_complete",
      data: JSON.parse(webhookBody(number, "order_complete")),
    }]);
  };
  await append();
  const start = performance.now();
  const endAt = start + Number(seconds) * 1000;
  let appended = 0;
  await Promise.all(
    Array.from({ length: mode === "shared" ? 64 : 1 }, async () => {
      while (performance.now() < endAt) {
        await (turn = turn.then(append));
        appended++;
      }
    }),
  );
  console.log(JSON.stringify(appended / (performance.now() - start) * 1000));
  Deno.exit(0);
}
