import type { OrderState } from "../../../ledger/mod.ts";
import type { SandboxOrder } from "../../../sandbox/mod.ts";
import { hasOddReading, isOdd, isStated } from "../chores/odd_ones.ts";
import { check } from "../world/journal.ts";
import { clickOfCrowd, type World } from "../world/world.ts";
import { eventsIn, ordersIn } from "./stored.ts";

const decoder = new TextDecoder();

/** Statuses that an order cannot leave by any documented step. */
const ENDS = ["success", "failed", "cancelled"];
const OPEN = ["created", "progress", "pending"];

/** What webhooks claim, by the rank of open statuses; ends rank above them. */
const CLAIMS: ReadonlyMap<unknown, number> = new Map([
  ["payment_started", 1],
  ["transfer_started", 2],
  ["order_complete", 3],
  ["order_failed", 3],
  ["order_cancelled", 3],
  ["order_canceled", 3],
]);

/** Kinds of attention that depend on what the partner recorded. */
const OF_MATCH: ReadonlySet<string> = new Set([
  ...["not_comparable", "not_as_requested", "several_match", "paid_twice"],
]);

/** What has to be said of an order, worked out from the service alone. */
interface Due {
  readonly release: "yes" | "wait" | "no" | null;
  readonly attention: ReadonlySet<string>;
  /** The outcome; null where it is not told here. */
  readonly outcome: string | null;
}

/**
 * Holds what is said of each order against what the service shows, worked out
 * a second time and without the table of outcomes.
 *
 * @throws {Broken} When something else is said.
 */
export async function lookAtOutcomes(world: World): Promise<void> {
  const states = await ordersIn(world);
  const read = await readingsOf(world);
  const denied = await deniedOrders(world);
  const claimed = await claimedOrders(world);
  for (const [orderId, state] of states) {
    const readings = read.get(orderId);
    if (readings?.isStated === false) isAsDue(orderId, state, dueOfUnstated);
    if (isOdd(world, orderId) || hasOddReading(state)) continue;
    if (world.sandbox.refuses(orderId) || orderId === clickOfCrowd) continue;
    const order = world.sandbox.order(orderId);
    const due = order === null
      ? readings === undefined ? dueOfDenied(denied, orderId) : dueOfGone()
      : dueOf(world, order, readings?.ends ?? new Set());
    if (due !== null) isAsDue(orderId, state, due);
    if (order !== null) saysAhead(world, order, state, claimed.get(orderId));
  }
}

/** Staff are told where a webhook says more of an open order than the service. */
function saysAhead(
  { journal }: World,
  { orderId, status }: SandboxOrder,
  { outcome, attention }: OrderState,
  claimed: number = 0,
): void {
  const rank = OPEN.indexOf(status.toLowerCase());
  const isPlain = attention.length === 0 && rank !== -1;
  const isErased = [...journal.erased.values()]
    .some((event) => event.orderId === orderId);
  check(
    "staff are told where a webhook says more than the service",
    !isPlain || isErased || claimed <= rank || outcome === "processing",
    () => `order ${orderId} is ${status}, and its outcome ${outcome}`,
  );
}

function isAsDue(id: string, state: OrderState, due: Due): void {
  const { release, outcome } = state;
  // What a person has settled is not told again.
  const said = [...state.attention, ...state.byHand?.settled ?? []]
    .filter((kind) => !OF_MATCH.has(kind));
  const isDue = due.outcome === null || outcome === due.outcome;
  const missing = [...due.attention].filter((kind) =>
    !said.some((one) => one === kind)
  );
  // Of what is no longer shown, the last reading goes on to be told.
  const more = due.outcome === "no_longer_shown"
    ? []
    : said.filter((kind) =>
      !due.attention.has(kind) &&
      // Goods that a person delivered for an order that ended afterwards.
      !(kind === "reversed_after_success" && release === "no" &&
        state.byHand?.outcome === "delivered")
    );
  check(
    "what an order has come to is what the service shows of it",
    isDue && missing.length + more.length === 0 &&
      (due.release === null || release === due.release ||
        (release === "settled" && due.release === "wait" &&
          state.byHand !== null)),
    () =>
      `order ${id} is ${outcome}, ${release}, for ${
        said.join() || "nobody"
      }, ` +
      `and not ${due.outcome ?? "that"}, ${due.release ?? "that"}, for ` +
      `${[...due.attention].join() || "nobody"}`,
  );
}

/** A row without a status is a task, whatever else it says. */
const dueOfUnstated: Due = {
  release: "wait",
  attention: new Set(["unknown_status"]),
  outcome: "unknown_status",
};

function dueOfGone(): Due {
  return {
    release: "wait",
    attention: new Set(["no_longer_shown"]),
    outcome: "no_longer_shown",
  };
}

/** What the service was asked for and never showed is somebody's invention. */
function dueOfDenied(
  denied: ReadonlySet<string>,
  orderId: string,
): Due | null {
  return !denied.has(orderId) ? null : {
    release: "wait",
    attention: new Set(["forged_or_unknown"]),
    outcome: "unknown_to_service",
  };
}

function dueOf(
  world: World,
  order: SandboxOrder,
  ends: ReadonlySet<string>,
): Due {
  const status = order.status.toLowerCase();
  const code = isStated(world, "failReason") ? groupOf(order.failReason) : "";
  const tx = !isStated(world, "txId")
    ? "unstated"
    : order.txId === ""
    ? "none"
    : "named";
  const ended = status === "failed" || status === "cancelled";
  const known = ENDS.includes(status) || OPEN.includes(status);
  const others = [...ends].filter((end) => end !== status);
  const wasSuccess = others.includes("success");
  const attention = new Set<string>();
  const tell = (kind: string, when: boolean) => when && attention.add(kind);
  tell("unknown_status", !known);
  tell("reversed_after_success", wasSuccess);
  tell("final_changed", others.length > 0 && !wasSuccess);
  tell("sent_without_success", ended && tx === "named");
  tell("refund_due", code === "late");
  tell("amount_mismatch", code === "amount" && status !== "success");
  tell("cancelled_after_payment", status === "cancelled" && code !== "user");
  tell("success_without_transaction", status === "success" && tx === "none");
  tell(
    "contradictory_reading",
    status === "success" &&
      ["expired", "amount", "user", "other"].includes(code),
  );
  const isPlain = attention.size === 0;
  return {
    release: ended ? "no" : status === "success" && isPlain ? null : "wait",
    attention,
    outcome: !isPlain || !ended ? null : plainEnd(code),
  };
}

/** An end of which nobody has to be told. */
function plainEnd(code: string): string {
  switch (code) {
    case "user":
      return "cancelled_by_customer";
    case "expired":
      return "not_paid_in_time";
    case "declined":
      return "declined";
    default:
      return "failed";
  }
}

/** Group of a payment error; empty without one. */
function groupOf(failReason: string): string {
  const code = Number(failReason);
  if (failReason === "") return "";
  if (code >= 4000 && code <= 4014) return "declined";
  return ["expired", "late", "amount", "user"][code - 4015] ?? "other";
}

/** What the readings of an order have shown, by the stored bodies. */
interface Readings {
  /** Ends that any of them stated. */
  readonly ends: ReadonlySet<string>;
  /** Whether any of them stated a status. */
  readonly isStated: boolean;
}

async function readingsOf(world: World): Promise<Map<string, Readings>> {
  const readings = new Map<string, Readings>();
  const found = await eventsIn(world, "e.kind = 'order_snapshot'");
  for (const { orderId: id, body } of found) {
    const { status } = JSON.parse(decoder.decode(body as Uint8Array));
    const said = String(status).toLowerCase();
    const before = readings.get(String(id));
    readings.set(String(id), {
      ends: new Set([
        ...before?.ends ?? [],
        ...ENDS.filter((end) => end === said),
      ]),
      isStated: before?.isStated === true || typeof status === "string",
    });
  }
  return readings;
}

/** Orders that the service was asked for, and has never shown. */
async function deniedOrders(world: World): Promise<Set<string>> {
  const found = await eventsIn(world, "e.kind = 'order_absent'");
  return new Set(found.flatMap(({ orderId }) => orderId ?? []));
}

/** The highest status that webhooks claim of each order, by its rank. */
async function claimedOrders(world: World): Promise<Map<string, number>> {
  const claimed = new Map<string, number>();
  for (
    const { orderId, type } of await eventsIn(world, "e.kind = 'webhook'")
  ) {
    if (orderId === null) continue;
    const rank = CLAIMS.get(type) ?? 0;
    claimed.set(orderId, Math.max(rank, claimed.get(orderId) ?? 0));
  }
  return claimed;
}
