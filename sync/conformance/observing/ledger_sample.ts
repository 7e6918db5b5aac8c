import { compareDecimals } from "../../../core/decimal.ts";
import { parseWebhook } from "../../../core/webhook_event/parse_webhook.ts";
import { isFinal } from "../../../ledger/for_sync.ts";
import {
  type Ledger,
  listDeliveries,
  type OrderView,
  readDelivery,
} from "../../../ledger/mod.ts";

/** Counts of a ledger's webhooks and readings. */
export interface LedgerSample {
  /** Orders that were looked at, those changed last first. */
  readonly orders: number;
  /** Sessions and expectations that the partner recorded. */
  readonly recorded: number;
  /** Fiat amounts that were asked for, beside those of their orders. */
  readonly amounts: {
    readonly asked: number;
    readonly same: number;
    /** Less than one unit away: cut or rounded. */
    readonly rounded: number;
  };
  /** Orders by whether their click id leads to what was recorded for them. */
  readonly clickIds: {
    readonly linked: number;
    /** A webhook names a recorded session, and the click id is another. */
    readonly astray: number;
  };
  /** Claims of webhooks about orders that the service has shown. */
  readonly claims: {
    readonly shown: number;
    /** The service did not agree for ten minutes. */
    readonly contradicted: number;
  };
  /** Orders that the service has shown in a final status. */
  readonly finals: { readonly orders: number; readonly changed: number };
  /** Orders whose transfer a webhook announced. */
  readonly transfers: {
    readonly announced: number;
    /** The service shows a status that `pending` is above, or a failure. */
    readonly below: number;
  };
  /** Spellings of the type of a cancelled order. */
  readonly cancelled: readonly string[];
  /** Order events by which signs of a flavour they have. */
  readonly flavours: {
    readonly one: number;
    readonly both: number;
    readonly neither: number;
  };
}

/** Orders and deliveries that are looked at, the last first. */
const ORDERS = 2000;
const DELIVERIES = 500;
const BODIES = 100;
const LOOKUPS = 100;

/**
 * Counts what a ledger has of webhooks and readings.
 *
 * @throws {LedgerError} When the database fails.
 */
export async function sampleLedger(
  ledger: Pick<Ledger, "driver" | "find" | "orders" | "stats">,
): Promise<LedgerSample> {
  const { events } = await ledger.stats();
  const orders: OrderView[] = [];
  for await (const order of ledger.orders.list({})) {
    if (orders.push(order) >= ORDERS) break;
  }
  return {
    orders: orders.length,
    recorded: events.session_created + events.order_expected,
    ...countOrders(orders),
    clickIds: await countClickIds(ledger, orders),
    ...await countDeliveries(ledger.driver),
  };
}

/** The part of a sample that orders give. Pure. */
function countOrders(
  orders: readonly OrderView[],
): Pick<
  LedgerSample,
  "amounts" | "claims" | "finals" | "transfers"
> {
  const count = (is: (order: OrderView) => boolean) => orders.filter(is).length;
  const has = (kind: string) => (order: OrderView) =>
    order.anomalies.some((anomaly) => anomaly.kind === kind);
  const shown = orders.filter(({ confirmed }) => confirmed !== null);
  const amounts = shown.flatMap(({ expected, confirmed }) => {
    const asked = expected?.currencyAmount ?? null;
    const stated = confirmed?.currencyAmount ?? null;
    return asked === null || stated === null ? [] : [[asked, stated] as const];
  });
  const claims = shown.flatMap(({ activity }) => activity.claims);
  const announced = shown.filter(({ transferSeen }) => transferSeen);
  return {
    amounts: {
      asked: amounts.length,
      same:
        amounts.filter(([asked, stated]) =>
          compareDecimals(asked, stated) === 0
        ).length,
      rounded: amounts.filter(([asked, stated]) => isRounded(asked, stated))
        .length,
    },
    claims: {
      shown: claims.filter(({ state }) => state === "observed").length,
      contradicted: claims.filter(({ state }) => state === "contradicted")
        .length,
    },
    finals: {
      orders:
        shown.filter(({ confirmed }) =>
          confirmed !== null && isFinal(confirmed.status)
        ).length,
      changed: count(has("final_changed")),
    },
    transfers: {
      announced: announced.length,
      below:
        announced.filter(({ confirmed }) =>
          ["created", "progress", "failed"].includes(confirmed?.status ?? "")
        ).length,
    },
  };
}

/** A session that was recorded is under its own click id, or astray. */
async function countClickIds(
  ledger: Pick<Ledger, "find">,
  orders: readonly OrderView[],
): Promise<LedgerSample["clickIds"]> {
  const shown = orders.filter(({ confirmed }) => confirmed !== null);
  const linked = shown.filter(({ facts }) => facts.match !== "nothing");
  let astray = 0;
  const others = shown.filter(({ facts, sessions }) =>
    facts.match === "nothing" && sessions.length > 0
  );
  for (
    const { sessions: [session = ""], clickId } of others.slice(0, LOOKUPS)
  ) {
    const { recorded } = await ledger.find(session);
    if (
      recorded.some((one) =>
        one.sessionId === session && one.clickId !== clickId
      )
    ) astray++;
  }
  return { linked: linked.length, astray };
}

/** Whether two amounts differ by less than one unit. */
function isRounded(asked: string, stated: string): boolean {
  const apart = Math.abs(Number(asked) - Number(stated));
  return compareDecimals(asked, stated) !== 0 && apart < 1;
}

async function countDeliveries(
  driver: Ledger["driver"],
): Promise<Pick<LedgerSample, "cancelled" | "flavours">> {
  const cancelled = new Set<string>();
  const flavours = { one: 0, both: 0, neither: 0 };
  let looked = 0;
  let read = 0;
  for await (const { id, type, orderId } of listDeliveries(driver)) {
    if (++looked > DELIVERIES) break;
    if (type === "order_cancelled" || type === "order_canceled") {
      cancelled.add(type);
    }
    if (orderId === null || ++read > BODIES) continue;
    const flavour = flavourOf((await readDelivery(driver, id))?.body ?? null);
    if (flavour !== null) flavours[flavour]++;
  }
  return { cancelled: [...cancelled].sort(), flavours };
}

function flavourOf(
  body: Uint8Array | null,
): keyof LedgerSample["flavours"] | null {
  if (body === null) return null;
  try {
    const event = parseWebhook(body);
    if (!("flavour" in event)) return null;
    if (event.flavour !== null) return "one";
    return "hpp_session_id" in event ? "both" : "neither";
  } catch {
    // A body that is not JSON is quarantined, and has no flavour.
    return null;
  }
}
