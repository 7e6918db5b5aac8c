import { isRecord } from "../../core/guards.ts";
import { parseJson } from "../../core/json/parse_json.ts";
import {
  type Driver,
  type Entity,
  type RawEvent,
  readNewestEvents,
  readSweep,
  type Statement,
  writeSweep,
} from "../../ledger/for_sync.ts";
import { failReasons } from "../../core/assets/fail_reason.ts";
import { WEBHOOK_TYPES } from "../../core/webhook_event/event_types.ts";
import { WEBHOOK_FIELDS } from "../../core/webhook_event/parse_webhook.ts";
import { REJECT_TYPES } from "../../core/webhook_event/webhook_event.ts";
import { ORDER_STATUSES, PAYMENT_TYPES } from "../../core/wire/order.ts";
import { ORDER_FIELD_NAMES, orderField } from "../../core/wire/order_fields.ts";
import { VERIFICATION_STATUSES } from "../../core/wire/user.ts";
import { USER_FIELDS } from "../../core/wire/user_fields.ts";
import {
  fieldName,
  ORDER_TIME_FORM,
  timeForm,
  word,
} from "../conformance/reader.ts";

/** Name under which drift is kept. */
const DRIFT = "drift";

/** Something met that the description does not have, or a reason to refuse. */
export interface DriftMet {
  /** How often, in what was looked at. */
  readonly count: number;
  /** When it was first noticed, UTC ISO 8601. */
  readonly since: string;
  /** When it was last noticed, UTC ISO 8601. */
  readonly lastAt: string;
}

/** Drift by name, as the ledger keeps it. */
export interface KeptDrift {
  /** Position up to which events were looked at. */
  readonly position: number;
  /** What was met, by name. */
  readonly names: Readonly<Record<string, DriftMet>>;
}

const DAY_MS = 24 * 3_600_000;

/**
 * Names kept of answers, and as many of webhooks: anybody who knows the address
 * can send webhooks, and must not push out what the service's answers show.
 */
const MOST_NAMES = 30;

/** Whether a name is of webhooks, which anybody may send. */
export function isOfWebhooks(name: string): boolean {
  return name.startsWith("webhooks");
}

/** What was met of late; of before our clock was set back, as little as of long ago. */
function recentOf(
  before: KeptDrift["names"],
  nowMs: number,
  forgottenMs: number,
): Map<string, DriftMet> {
  return new Map(
    Object.entries(before).filter(([, { lastAt }]) =>
      Math.abs(nowMs - Date.parse(lastAt)) < forgottenMs
    ),
  );
}

function count(
  names: Map<string, DriftMet>,
  name: string,
  more: number,
  nowMs: number,
): void {
  const lastAt = new Date(nowMs).toISOString();
  const { count, since } = names.get(name) ?? { count: 0, since: lastAt };
  names.set(name, { count: count + more, since, lastAt });
}

/**
 * Adds names that were met. A name beyond the bound is counted with the others
 * of its kind; one that was not met for a week is forgotten.
 */
export function withMet(
  before: KeptDrift["names"],
  met: readonly string[],
  nowMs: number,
): KeptDrift["names"] {
  const names = recentOf(before, nowMs, 7 * DAY_MS);
  for (const name of met) {
    const isWebhook = isOfWebhooks(name);
    const others = isWebhook ? "webhooks: others" : "answers: others";
    const same = names.keys().filter((one) => isOfWebhooks(one) === isWebhook);
    const hasRoom = names.has(name) || same.toArray().length < MOST_NAMES;
    count(names, hasRoom ? name : others, 1, nowMs);
  }
  return Object.fromEntries(names);
}

/** Name under which refused requests are kept. */
const REFUSED = "refused_requests";

/** Reads how often the endpoints of a ledger refused requests lately, by reason. */
export async function readRefusedRequests(
  driver: Driver,
): Promise<KeptDrift["names"]> {
  return await readSweep<KeptDrift["names"]>(driver, REFUSED) ?? {};
}

/**
 * Adds requests that were refused, for `doctor` to see from another process; what
 * was refused longer than a day ago is forgotten.
 */
export async function addRefusedRequests(
  driver: Driver,
  counts: Readonly<Record<string, number>>,
  nowMs: number,
): Promise<void> {
  const known = recentOf(await readRefusedRequests(driver), nowMs, DAY_MS);
  for (const [reason, more] of Object.entries(counts)) {
    count(known, reason, more, nowMs);
  }
  const after = Object.fromEntries(known);
  await driver.batch([writeSweep(REFUSED, after, nowMs)], "write");
}

/** Reads what was met that the description does not have. */
export function readDrift(driver: Driver): Promise<KeptDrift | null> {
  return readSweep<KeptDrift>(driver, DRIFT);
}

const NOTHING: KeptDrift = { position: 0, names: {} };

/** Counts what an answer shows that is no part of a row. */
export async function countDrift(
  driver: Driver,
  met: readonly string[],
  nowMs: number,
): Promise<Statement> {
  const { position, names } = await readDrift(driver) ?? NOTHING;
  const after = { position, names: withMet(names, met, nowMs) };
  return writeSweep(DRIFT, after, nowMs);
}

/**
 * Events looked at in one look, the newest; a flood is not looked at
 * completely.
 */
const MOST_EVENTS = 200;

const decoder = new TextDecoder();

/**
 * Looks at what the ledger has got since the last look, and keeps by name what
 * is not as the description of the service has it.
 */
export async function lookForDrift(
  driver: Driver,
  nowMs: number,
): Promise<KeptDrift> {
  const before = await readDrift(driver) ?? NOTHING;
  const events = await readNewestEvents(driver, before.position, MOST_EVENTS);
  const [newest] = events;
  if (newest === undefined) return before;
  const after: KeptDrift = {
    position: newest.position,
    names: withMet(before.names, events.flatMap(namesIn), nowMs),
  };
  await driver.batch([writeSweep(DRIFT, after, nowMs)], "write");
  return after;
}

function namesIn({ kind, body }: RawEvent): string[] {
  try {
    const value = parseJson(decoder.decode(body));
    if (kind === "webhook") return namesInWebhook(value);
    if (kind === "order_snapshot") return namesInAnswer("order", value);
    return kind === "user_snapshot" ? namesInAnswer("user", value) : [];
  } catch {
    // What is no JSON is counted as quarantined elsewhere.
    return [];
  }
}

/** What the description says of an object, and of objects within it. */
interface Described {
  readonly name: string;
  readonly fields?: readonly string[];
  /** The form of `created_at` and `changed_at`. */
  readonly time?: RegExp;
  readonly words?: Readonly<Record<string, readonly string[]>>;
  readonly within?: Readonly<Record<string, Described>>;
}

const ANSWERS: Readonly<Record<Entity, Described>> = {
  order: {
    name: "orders",
    fields: [
      "order_id",
      "status",
      "created_at",
      "changed_at",
      "additional_data",
      ...ORDER_FIELD_NAMES.map((name) => orderField(name).wire),
    ],
    time: ORDER_TIME_FORM,
    words: {
      status: ORDER_STATUSES,
      payment_type: PAYMENT_TYPES,
      card_brand: ["VISA", "MASTERCARD"],
      fail_reason: failReasons,
    },
  },
  user: {
    name: "users",
    fields: [
      "user_id",
      "limits",
      "linked_payment_methods",
      ...Object.values(USER_FIELDS).map(({ wire }) => wire),
    ],
    time: /^9999-99-99T99:99:99\.9+Z$/,
    words: {
      lkyc_status: VERIFICATION_STATUSES,
      fkyc_status: VERIFICATION_STATUSES,
    },
  },
};

const STATES = { state: VERIFICATION_STATUSES };

const EVENT: Described = {
  name: "webhooks",
  fields: WEBHOOK_FIELDS.event,
  words: { reject_type: Object.keys(REJECT_TYPES) },
  within: {
    order: { name: "webhooks.order", fields: WEBHOOK_FIELDS.order },
    user: {
      name: "webhooks.user",
      fields: WEBHOOK_FIELDS.user,
      within: {
        verification_status: {
          name: "webhooks.user",
          within: {
            lkyc: { name: "webhooks.user.lkyc", words: STATES },
            fkyc: { name: "webhooks.user.fkyc", words: STATES },
          },
        },
      },
    },
  },
};

const OTP: Described = {
  name: "webhooks",
  fields: WEBHOOK_FIELDS.otp,
  words: { status: ["requested", "success", "failed"] },
};

/** Most names that one row or body gives: a stranger may write any body. */
const MOST_OF_ONE = 10;

/**
 * What in a row of the service's lists differs from the description, by name:
 * `orders.refund_state`, `orders.status=refunded`,
 * `orders.created_at is 9999/99/99`. No name holds a value that could be of a
 * person or an order.
 */
export function namesInAnswer(entity: Entity, row: unknown): string[] {
  return [...differences(row, ANSWERS[entity])].slice(0, MOST_OF_ONE);
}

/**
 * What in a webhook differs from the description, by name, as in
 * {@linkcode namesInAnswer}: `webhooks.type=coffee_brewed`,
 * `webhooks.order.risk`.
 */
export function namesInWebhook(body: unknown): string[] {
  if (!isRecord(body)) return ["webhooks without an object"];
  const type = {
    name: "webhooks",
    words: { type: Object.keys(WEBHOOK_TYPES) },
  };
  const unknown = [...differences(body, type)];
  // What an unknown event may hold is not described.
  if (unknown.length > 0 || typeof body.type !== "string") return unknown;
  const described = body.type === "otp_status" ? OTP : EVENT;
  return [...differences(body, described)].slice(0, MOST_OF_ONE);
}

function* differences(
  value: unknown,
  { name: where, fields, time, words = {}, within = {} }: Described,
): Generator<string> {
  if (!isRecord(value)) return;
  yield* Object.keys(value).filter((name) => fields?.includes(name) === false)
    .slice(0, MOST_OF_ONE).map((name) => `${where}.${fieldName(name)}`);
  for (const name of ["created_at", "changed_at"]) {
    const form = timeForm(value[name]);
    if (typeof value[name] === "string" && time?.test(form) === false) {
      yield `${where}.${name} is ${form}`;
    }
  }
  for (const [name, listed] of Object.entries(words)) {
    const said = value[name];
    if (typeof said === "string" && said !== "" && !listed.includes(said)) {
      yield `${where}.${name}=${word(said, listed)}`;
    }
  }
  for (const [name, one] of Object.entries(within)) {
    yield* differences(value[name], one);
  }
}
