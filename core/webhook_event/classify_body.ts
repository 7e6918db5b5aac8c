import { parseJson } from "../json/json.ts";
import { isLongText, LONGEST_IDENTIFIER } from "../wire/objects.ts";
import { readWebhook } from "./parse_webhook.ts";
import { isRecord } from "../guards.ts";

/** The class of a body, one of a fixed set. */
export interface BodyClass {
  /** The documented type, `other`, or `quarantined` when it is not a JSON object. */
  readonly type: string;
  /**
   * Why it is not a documented event, or which of its identifiers are too long;
   * null when nothing is odd.
   */
  readonly why: string | null;
}

const decoder = new TextDecoder();

/** The value that a body is the JSON text of; undefined when it is not JSON. */
export function bodyValue(body: Uint8Array): unknown {
  try {
    return parseJson(decoder.decode(body));
  } catch {
    return undefined;
  }
}

/** Classifies the value of a body. Never throws: any delivery is stored. */
export function classify(value: unknown): BodyClass {
  if (value === undefined) {
    return { type: "quarantined", why: "It is not JSON" };
  }
  const webhook = readWebhook(value);
  const long = longIdentifiers(value);
  if (webhook.type !== "unrecognised") {
    return {
      type: webhook.type,
      why: long.length === 0 ? null : tooLong(long),
    };
  }
  const isObject = typeof value === "object" && value !== null &&
    !Array.isArray(value);
  return {
    type: isObject ? "other" : "quarantined",
    why: webhook.reasons.join("; "),
  };
}

function tooLong(fields: readonly string[]): string {
  return `Longer than ${LONGEST_IDENTIFIER} bytes, and read as absent: ` +
    fields.join(", ");
}

/** A stored body that is not one of the documented events, or has an oddity. */
export interface OddBody {
  /** `id` of the delivery. */
  readonly deliveryId: string;
  /**
   * `other` for a JSON object, `quarantined` for anything else; the type of a
   * documented event that has an oddity.
   */
  readonly type: string;
  /** What is odd about it. */
  readonly why: string;
}

/** What the bodies of some deliveries are: plain data, which crosses threads. */
export interface BodyClasses {
  /** How many bodies there are of each type, `other` and `quarantined` among
   * them. */
  readonly counts: Readonly<Record<string, number>>;
  /** Those with something odd. */
  readonly odd: readonly OddBody[];
}

/** Counts bodies by their class. */
export class BodyTally implements BodyClasses {
  /** How many bodies there are of each type. */
  readonly counts: Record<string, number> = {};
  /** Those with something odd. */
  readonly odd: OddBody[] = [];

  /** Counts a body. */
  add(deliveryId: string, { type, why }: BodyClass): void {
    this.counts[type] = (this.counts[type] ?? 0) + 1;
    if (why !== null) this.odd.push({ deliveryId, type, why });
  }
}

/** Where bodies of webhooks have identifiers. */
const places: readonly (readonly [string, (body: Body) => unknown])[] = [
  ["type", ({ type }) => type],
  ["click_id", ({ click_id }) => click_id],
  ["hpp_session_id", ({ hpp_session_id }) => hpp_session_id],
  ["user_id", ({ user_id }) => user_id],
  ["user.user_id", ({ user }) => within(user).user_id],
  ["order.id", ({ order }) => within(order).id],
  ["order.external_order_id", ({ order }) => within(order).external_order_id],
];

type Body = Readonly<Record<string, unknown>>;

/**
 * Names the fields of a webhook that should identify something, and are too
 * long for that: they are read as if they were not there.
 */
export function longIdentifiers(value: unknown): string[] {
  const body = within(value);
  return places.filter(([, held]) => isLongText(held(body)))
    .map(([name]) => name);
}

function within(value: unknown): Body {
  return isRecord(value) ? value : {};
}
