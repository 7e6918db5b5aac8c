import { type CaseAction, CaseError } from "../../../ledger/mod.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import { outcomeNow } from "../../../ledger/for_resources.ts";
import type { SandboxOrder } from "../../../sandbox/mod.ts";
import { rows } from "../rules/disagreements.ts";
import { inProcess } from "../rules/in_process.ts";
import type { Inspector } from "../rules/inspector.ts";
import type { Dice } from "../world/dice.ts";
import { addOne, Broken, check } from "../world/journal.ts";
import { soundOrder } from "../world/sound_order.ts";
import type { World } from "../world/world.ts";
import { complete, known } from "./scene_steps.ts";

const minuteMs = 60_000;

/** How a person can close a case without goods or a purchase. */
const CLOSINGS = ["written_off", "not_ours", "refunded"] as const;

/** Names of what is played, as it is counted. */
export const CASE_SCENE_NAMES: readonly string[] = [
  "case asked about",
  ...CLOSINGS.map((change) => `case ${change}`),
  "case opened again by the service",
  "case opened again by a person",
];

/**
 * An order that a person deals with: the service takes its success back, a
 * person asks about it and closes its case, and the service changes it again.
 */
export async function playCase(
  world: World,
  inspector: Inspector,
  dice: Dice,
): Promise<void> {
  if (world.front.incarnation === null) return;
  const order = soundOrder(world);
  await complete(world, inspector, order);
  world.sandbox.amendOrder(order.orderId, { status: "cancelled" });
  await known(world, inspector, order, ({ status }) => status === "cancelled");
  await stands(world, order, "open", "an order that waits has an open case");
  if (dice.chance(0.5)) {
    await change(world, order, { change: "asked" });
    await stands(world, order, "asked", "a case follows what a person did");
    addOne(world.journal.chores, "case asked about");
  }
  const closing = dice.pick(CLOSINGS);
  await change(world, order, {
    change: closing,
    ...closing === "refunded" ? { reference: "RF-1" } : {},
  });
  await stands(world, order, closing, "a case follows what a person did");
  addOne(world.journal.chores, `case ${closing}`);
  if (closing !== "refunded" && dice.chance(0.4)) {
    await change(world, order, { change: "reopened" });
    await stands(world, order, "open", "a person can open a case again");
    addOne(world.journal.chores, "case opened again by a person");
    await change(world, order, { change: closing });
  }
  const amount = `${dice.int(100, 900)}.5`;
  world.sandbox.amendOrder(order.orderId, { currencyAmount: amount });
  await known(
    world,
    inspector,
    order,
    ({ confirmed }) => Number(confirmed?.currencyAmount) === Number(amount),
  );
  await stands(
    world,
    order,
    "open",
    "a case opens again when the service changes the order",
  );
  addOne(world.journal.chores, "case opened again by the service");
}

async function change(
  world: World,
  { orderId }: SandboxOrder,
  action: Pick<CaseAction, "change" | "reference">,
): Promise<void> {
  // Two changes of one moment are told apart by their bodies alone.
  await world.clock.advance(minuteMs);
  await inProcess(world, world.front, async ({ ledger }) => {
    await ledger.cases.change(orderId, {
      ...action,
      by: "clerk of a scene",
      note: "played",
    }).catch((error) => {
      if (!(error instanceof CaseError)) throw error;
      throw new Broken("what a person did about a case is kept", error.message);
    });
  }, 60 * minuteMs);
}

/** How a case stands, and that every list says the same of it. */
async function stands(
  world: World,
  { orderId }: SandboxOrder,
  state: string,
  rule: string,
): Promise<void> {
  const seen = await inProcess(world, world.front, async ({ ledger }) => {
    const found = await ledger.cases.get(orderId);
    return {
      state: found?.case?.state ?? "none",
      ...await lists(world, ledger),
    };
  }, 60 * minuteMs);
  check(
    rule,
    seen.state === state,
    () => `the case of order ${orderId} is ${seen.state}, not ${state}`,
  );
  const waits = state === "open" || state === "asked";
  check(
    "a case is listed while it waits, and not once it is closed",
    seen.listed.includes(orderId) === waits,
    () => `order ${orderId} is ${state}, and ${waits ? "not " : ""}listed`,
  );
  check(
    "as many orders are listed as wait",
    seen.listed.join() === seen.waiting.join(),
    () => `${seen.listed.length} are listed, and ${seen.waiting.length} wait`,
  );
}

/** Orders that are listed as waiting, and those that wait by their own word. */
async function lists(
  world: World,
  ledger: Ledger,
): Promise<{ readonly listed: string[]; readonly waiting: string[] }> {
  // What had ended before the ledger went live was somebody else's task.
  const past = new Set(
    (await rows(world, "SELECT order_id FROM historic_orders WHERE listed = 0"))
      .map(([id]) => String(id)),
  );
  const listed: string[] = [];
  for await (const { order } of ledger.attention()) {
    if (!past.has(order.orderId)) listed.push(order.orderId);
  }
  const waiting: string[] = [];
  for await (const order of ledger.orders.list({ limit: 1000 })) {
    const { attention } = outcomeNow(order, world.now());
    if (attention.length === 0 || past.has(order.orderId)) continue;
    waiting.push(order.orderId);
  }
  return { listed: listed.sort(), waiting: waiting.sort() };
}
