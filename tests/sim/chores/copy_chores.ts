import type { Ledger, Transition } from "../../../ledger/mod.ts";
import type { Dice } from "../world/dice.ts";
import { CopiedLedger } from "./copied_ledger.ts";
import type { Incarnation } from "../world/incarnation.ts";
import { check } from "../world/journal.ts";
import type { World } from "../world/world.ts";

const encoder = new TextEncoder();

/** The ledger is exported while it is in use, and imported elsewhere. */
export async function exportAndImport(
  world: World,
  { ledger, foldVersion }: Incarnation,
  dice: Dice,
): Promise<void> {
  const lines: string[] = [];
  for await (const line of ledger.export()) lines.push(line);
  const cutAt = dice.chance(0.4) ? dice.int(1, lines.length - 1) : null;
  const copy = new CopiedLedger(world, dice);
  try {
    const imported = await copy.finish(foldVersion, async (other) => {
      if (cutAt !== null) await importCut(other, lines.slice(0, cutAt));
      const { imported, skipped } = await other.import(each(lines));
      check(
        "an import takes every event, once",
        imported + skipped === lines.length - 2,
        () => `${imported} and ${skipped} of ${lines.length - 2} events`,
      );
      await other.project();
      return { again: await collect(other.export()), ...await other.verify() };
    });
    const rule = "an import is the same ledger";
    const { events, transitions } = await copy.inspect(rule);
    check(
      rule,
      events.length === lines.length - 2,
      () => `${events.length} events came of ${lines.length - 2}`,
    );
    check(
      rule,
      imported.ok && imported.unchained === 0,
      () =>
        imported.reason?.code ?? `${imported.unchained} events are unchained`,
    );
    check(
      "exporting an import gives the same lines",
      imported.again.join("\n") === lines.join("\n"),
      () => firstDifference(imported.again, lines),
    );
    const live = transitions.find((one) => one.live);
    check(
      "an import makes no live transitions",
      live === undefined,
      () => `${live?.entity} ${live?.id} ${live?.trust}.${live?.status}`,
    );
    await onlyNewTransitionsArrive(world, copy, foldVersion);
  } finally {
    await copy.store.close();
  }
}

/** The file was cut on its way: that is seen, and what it held is kept. */
async function importCut(
  ledger: Ledger,
  lines: readonly string[],
): Promise<void> {
  const cut = await ledger.import(each(lines)).then(
    () => false,
    (error) => {
      if (error instanceof TypeError) return true;
      throw error;
    },
  );
  check(
    "an export that was cut is seen",
    cut,
    () => `${lines.length} lines without the last passed`,
  );
}

/** A webhook that comes after an import makes transitions, and nothing else does. */
async function onlyNewTransitionsArrive(
  world: World,
  copy: CopiedLedger,
  foldVersion: number,
): Promise<void> {
  const received: string[] = [];
  await copy.finish(foldVersion, async (ledger) => {
    received.length = 0;
    await ledger.appendDelivery({
      id: "01KZZZZZZZZZZZZZZZZZZZZZZZ",
      receivedAt: new Date(world.now()).toISOString(),
      body: encoder.encode(
        '{"type":"order_complete","order":{"id":"after the import"}}',
      ),
    });
    await ledger.project();
    const subscription = await ledger.subscribe(
      `after ${world.tools.newId()}`,
      {
        on: "*",
        from: "start",
        sleep: (ms, signal) => world.clock.sleep(ms, signal),
      },
      ({ key }: Transition) => {
        received.push(key);
      },
    );
    await subscription.dispatch();
    await subscription.stop();
  });
  check(
    "an import makes no live transitions",
    [...new Set(received)].join() ===
      "order:after the import:claimed.success",
    () => `after one webhook: ${received.join(", ") || "nothing"}`,
  );
}

/** The ledger is copied while it is in use, and the copy is put to use. */
export async function backUp(
  world: World,
  { ledger, foldVersion }: Incarnation,
  dice: Dice,
): Promise<void> {
  const { store, ports } = world;
  const path = world.newFile();
  const committed = await count(store);
  const copyTo = (to: string) => ledger.backup(to);
  await (ports.backup?.(copyTo, world.file) ?? copyTo)(path);
  const rule = "a backup is the ledger of one moment";
  const copy = new CopiedLedger(world, dice, path);
  try {
    const found = await count(copy.store);
    check(
      rule,
      found >= committed,
      () => `${found} events of ${committed} are in it`,
    );
    const verified = await copy.finish(foldVersion, async (other) => {
      await other.project();
      return await other.verify();
    });
    check(
      rule,
      verified.ok && verified.unchained === 0,
      () =>
        verified.reason?.code ?? `${verified.unchained} events are unchained`,
    );
    const { events } = await copy.inspect(rule);
    check(rule, events.length === found, () => `it has ${events.length}`);
  } finally {
    await copy.store.close();
  }
}

async function count(store: CopiedLedger["store"]): Promise<number> {
  const [tables] = await store.batch([{
    sql: "SELECT 1 FROM sqlite_schema WHERE name = 'events'",
    args: [],
  }], "read");
  if (tables?.rows.length === 0) return 0;
  const [found] = await store.batch([{
    sql: "SELECT count(*) FROM events",
    args: [],
  }], "read");
  return Number(found?.rows[0]?.[0] ?? 0);
}

async function* each(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

async function collect(lines: AsyncIterable<string>): Promise<string[]> {
  return await Array.fromAsync(lines);
}

function firstDifference(
  left: readonly string[],
  right: readonly string[],
): string {
  const at = left.findIndex((line, index) => line !== right[index]);
  return `line ${at + 1} is\n  ${left[at]}\nand was\n  ${right[at]}`;
}
