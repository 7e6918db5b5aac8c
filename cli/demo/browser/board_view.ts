import type { Explanation, OrderState, Trust } from "../../../ledger/mod.ts";
import {
  type ExplainedEventJson,
  explanationJson,
} from "../../../resources/views/explanation_view.ts";
import type { OrderJson } from "../../../resources/views/order_view.ts";

/** All that the page shows, sent whole each time something moved. */
export interface BoardView {
  /** The demo's clock: when this was made, and how fast it runs. */
  readonly clock: { readonly nowMs: number; readonly factor: number };
  /** The ledger as a whole. */
  readonly ledger: {
    /** Events in the evidence chain. */
    readonly events: number;
    /** Hash of the chain's end, 64 hex digits. */
    readonly hash: string;
  };
  /** Orders, the youngest first. */
  readonly orders: readonly OrderCard[];
}

/** The displayed fields of one order. */
export interface OrderCard {
  /** Order identifier. */
  readonly orderId: string;
  /** Short identifier for people. */
  readonly externalOrderId: string | null;
  /** Status by the ledger. */
  readonly status: string;
  /** Whether that is confirmed by the service. */
  readonly trust: Trust;
  /** Why, in one sentence. */
  readonly reason: string;
  /** Status of the latest reading; null before the first. */
  readonly confirmedStatus: string | null;
  /** Status at the service this very moment: what no partner can see. */
  readonly atService: string | null;
  /** Fiat amount and currency. */
  readonly paid: string | null;
  /** Asset amount, code and network. */
  readonly bought: string | null;
  /** Where the asset goes. */
  readonly address: string | null;
  /** Transaction hash. */
  readonly txId: string | null;
  /** The shop's own reference, from its session. */
  readonly reference: string | null;
  /** How often the goods were released. */
  readonly released: number;
  /** The order's anomalies. */
  readonly anomalies: OrderJson["anomalies"];
  /** What happened, the latest first. */
  readonly events: readonly EventLine[];
}

/** The displayed fields of one event. */
export interface EventLine {
  /** Place in the ledger. */
  readonly position: number;
  /** When the ledger learnt it, UTC ISO 8601. */
  readonly at: string;
  /** Kind of fact. */
  readonly kind: ExplainedEventJson["kind"];
  /** What it is counted as. */
  readonly label: string;
  /** Whether the page's own forger sent it. */
  readonly forged: boolean;
  /** What it came to. */
  readonly effect: ExplainedEventJson["effect"];
  /** Why, in one sentence. */
  readonly why: string;
  /** Status and trust from here on, if either changed. */
  readonly became: { readonly status: string; readonly trust: string } | null;
  /** Changed fields that people ask about. */
  readonly changes: ExplainedEventJson["changes"];
  /** The other changed fields. */
  readonly others: ExplainedEventJson["changes"];
}

/** What the demo knows of an order beside the ledger. */
export interface Beside {
  /** Its status at the service; null when the service has no such order. */
  readonly atService: string | null;
  /** How often the goods were released. */
  readonly released: number;
  /** The time, in milliseconds since the epoch. */
  readonly nowMs: number;
  /** Ids of events that the forger sent. */
  readonly forged: ReadonlySet<string>;
}

/** Fields that people ask about. */
const ASKED_FOR: ReadonlySet<string> = new Set([
  "currencyAmount",
  "cryptoAmount",
  "txId",
  "failReason",
  "expected.reference",
  "expected.currencyAmount",
]);

/** Puts an explanation into the form of the page. */
export function orderCard(
  explanation: Explanation,
  { atService, released, forged, nowMs }: Beside,
): OrderCard {
  const { orderId, state, events } = explanationJson(explanation, nowMs, null);
  return {
    orderId,
    externalOrderId: state.externalOrderId,
    status: state.status,
    trust: state.trust,
    reason: state.reason.message,
    confirmedStatus: state.confirmed?.status ?? null,
    atService,
    paid: words(state.currencyAmount, state.currency),
    bought: bought(state),
    address: state.address,
    txId: state.txId,
    reference: state.expected?.reference ?? null,
    released,
    anomalies: state.anomalies,
    events: eventLines(events, forged).reverse(),
  };
}

function eventLines(
  events: readonly ExplainedEventJson[],
  forged: ReadonlySet<string>,
): EventLine[] {
  let status = "created";
  let trust = "claimed";
  return events.map((event) => {
    const before = `${status} ${trust}`;
    for (const { field, after } of event.changes) {
      if (field === "status") status = after ?? status;
      if (field === "trust") trust = after ?? trust;
    }
    const fields = event.changes.filter(({ field }) =>
      field !== "status" && field !== "trust" && field !== "history"
    );
    return {
      position: event.position,
      at: event.recordedAt,
      kind: event.kind,
      label: event.label,
      forged: forged.has(event.eventId),
      effect: event.effect,
      why: event.why.message,
      became: before === `${status} ${trust}` ? null : { status, trust },
      changes: fields.filter(({ field }) => ASKED_FOR.has(field)),
      others: fields.filter(({ field }) => !ASKED_FOR.has(field)),
    };
  });
}

function bought(
  state: Pick<OrderState, "cryptoAmount" | "commodity" | "network">,
): string | null {
  const asset = words(state.cryptoAmount, state.commodity);
  if (asset === null || state.network === null) return asset;
  return `${asset} on ${state.network}`;
}

function words(amount: string | null, unit: string | null): string | null {
  return amount === null ? null : [amount, unit].filter(Boolean).join(" ");
}
