import { ExactNumber, parseJson } from "../../core/json/json.ts";
import { isOneOf, isRecord } from "../../core/guards.ts";
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
import {
  REJECT_TYPES,
  WEBHOOK_TYPES,
} from "../../core/webhook_event/webhook_event.ts";
import { WEBHOOK_FIELDS } from "../../core/webhook_event/parse_webhook.ts";
import {
  ORDER_STATUSES,
  PAYMENT_TYPES,
  VERIFICATION_STATUSES,
} from "../../core/wire/objects.ts";
import {
  ORDER_FIELD_NAMES,
  orderField,
  USER_FIELDS,
} from "../../core/wire/fields.ts";

/** Something met that the description does not have, or a reason to refuse. */
export interface DriftMet {
  /** How often, in what was looked at. */
  readonly count: number;
  /** When it was first noticed, UTC ISO 8601. */
  readonly since: string;
  /** When it was last noticed, UTC ISO 8601. */
  readonly lastAt: string;
}

type Met = Readonly<Record<string, DriftMet>>;

/** Drift by name, as the ledger keeps it. */
export interface KeptDrift {
  /** Position up to which events were looked at. */
  readonly position: number;
  readonly names: Met;
}

const DRIFT = "drift";
const REFUSED = "refused_requests";

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

/**
 * Adds what was met to what was met of late; what was met before our clock was
 * set back is forgotten as well.
 */
function counted(
  before: Met,
  more: Readonly<Record<string, number>>,
  nowMs: number,
  forgottenMs: number,
): Met {
  const kept = Object.entries(before).filter(([, { lastAt }]) =>
    Math.abs(nowMs - Date.parse(lastAt)) < forgottenMs
  );
  const names = new Map(kept);
  const lastAt = new Date(nowMs).toISOString();
  for (const [name, times] of Object.entries(more)) {
    const { count, since } = names.get(name) ?? { count: 0, since: lastAt };
    names.set(name, { count: count + times, since, lastAt });
  }
  return Object.fromEntries(names);
}

/**
 * Adds names that were met. A name beyond the bound is counted with the others
 * of its kind; one that was not met for a week is forgotten.
 */
export function withMet(
  before: Met,
  met: readonly string[],
  nowMs: number,
): Met {
  return met.reduce((names, name) => {
    const isWebhook = isOfWebhooks(name);
    const same = Object.keys(names).filter((one) =>
      isOfWebhooks(one) === isWebhook
    );
    const isFull = !same.includes(name) && same.length >= MOST_NAMES;
    const others = `${isWebhook ? "webhooks" : "answers"}: others`;
    return counted(names, { [isFull ? others : name]: 1 }, nowMs, 7 * DAY_MS);
  }, counted(before, {}, nowMs, 7 * DAY_MS));
}

/** Reads how often the endpoints of a ledger refused requests lately, by reason. */
export async function readRefusedRequests(driver: Driver): Promise<Met> {
  return await readSweep<Met>(driver, REFUSED) ?? {};
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
  const before = await readRefusedRequests(driver);
  const after = counted(before, counts, nowMs, DAY_MS);
  await driver.batch([writeSweep(REFUSED, after, nowMs)], "write");
}

/** Reads what was met that the description does not have. */
export function readDrift(driver: Driver): Promise<KeptDrift | null> {
  return readSweep<KeptDrift>(driver, DRIFT);
}

const keptDrift = async (driver: Driver): Promise<KeptDrift> =>
  await readDrift(driver) ?? { position: 0, names: {} };

/** Counts what an answer shows that is no part of a row. */
export async function countDrift(
  driver: Driver,
  met: readonly string[],
  nowMs: number,
): Promise<Statement> {
  const { position, names } = await keptDrift(driver);
  const after = { position, names: withMet(names, met, nowMs) };
  return writeSweep(DRIFT, after, nowMs);
}

/** Events looked at in one look, the newest: a flood is not looked at whole. */
const MOST_EVENTS = 200;

/**
 * Looks at what the ledger has got since the last look, and keeps by name what
 * is not as the description of the service has it.
 */
export async function lookForDrift(
  driver: Driver,
  nowMs: number,
): Promise<KeptDrift> {
  const before = await keptDrift(driver);
  const events = await readNewestEvents(driver, before.position, MOST_EVENTS);
  const [newest] = events;
  if (newest === undefined) return before;
  const names = withMet(before.names, events.flatMap(namesIn), nowMs);
  const after = { position: newest.position, names };
  await driver.batch([writeSweep(DRIFT, after, nowMs)], "write");
  return after;
}

function namesIn({ kind, body }: RawEvent): string[] {
  try {
    const value = parseJson(new TextDecoder().decode(body));
    if (kind === "webhook") return namesInWebhook(value);
    if (kind === "order_snapshot") return namesInAnswer("order", value);
    return kind === "user_snapshot" ? namesInAnswer("user", value) : [];
  } catch {
    // What is no JSON is counted as quarantined elsewhere.
    return [];
  }
}

/** How orders write times, in the form of {@linkcode timeForm}. */
export const ORDER_TIME_FORM = /^9999-99-99 99:99:99$/;

interface Described {
  readonly fields?: readonly string[];
  readonly words?: Readonly<Record<string, readonly string[]>>;
  /** The form of `created_at` and `changed_at`. */
  readonly time?: RegExp;
}

const ORDERS: Described = {
  fields: [
    ...["order_id", "status", "created_at", "changed_at", "additional_data"],
    ...ORDER_FIELD_NAMES.map((name) => orderField(name).wire),
  ],
  words: {
    status: ORDER_STATUSES,
    payment_type: PAYMENT_TYPES,
    card_brand: ["VISA", "MASTERCARD"],
    fail_reason: failReasons,
  },
  time: ORDER_TIME_FORM,
};

const USERS: Described = {
  fields: [
    ...["user_id", "limits", "linked_payment_methods"],
    ...Object.values(USER_FIELDS).map(({ wire }) => wire),
  ],
  words: {
    lkyc_status: VERIFICATION_STATUSES,
    fkyc_status: VERIFICATION_STATUSES,
  },
  time: /^9999-99-99T99:99:99\.9+Z$/,
};

const EVENT: Described = {
  fields: WEBHOOK_FIELDS.event,
  words: { reject_type: Object.keys(REJECT_TYPES) },
};
const OTP: Described = {
  fields: WEBHOOK_FIELDS.otp,
  words: { status: ["requested", "success", "failed"] },
};
const STATE: Described = { words: { state: VERIFICATION_STATUSES } };

/** Most names that one row or body gives: a stranger may write any body. */
const MOST_OF_ONE = 10;

/**
 * What in a row of the service's lists differs from the description, by name:
 * `orders.refund_state`, `orders.status=refunded`,
 * `orders.created_at is 9999/99/99`. No name holds a value that could be of a
 * person or an order.
 */
export function namesInAnswer(entity: Entity, row: unknown): string[] {
  const described = entity === "order" ? ORDERS : USERS;
  return differences(`${entity}s`, row, described).slice(0, MOST_OF_ONE);
}

/** What in a webhook differs, as {@linkcode namesInAnswer} says it of a row. */
export function namesInWebhook(body: unknown): string[] {
  if (!isRecord(body)) return ["webhooks without an object"];
  const { type, order, user } = body;
  if (typeof type !== "string" || type === "") return [];
  // What an unknown event may hold is not described.
  if (!isOneOf(Object.keys(WEBHOOK_TYPES), type)) {
    return [`webhooks.type=${word(type, [])}`];
  }
  const states = isRecord(user) ? user.verification_status : null;
  const { lkyc, fkyc } = isRecord(states) ? states : {};
  const looked: Parameters<typeof differences>[] = type === "otp_status"
    ? [["webhooks", body, OTP]]
    : [
      ["webhooks", body, EVENT],
      ["webhooks.order", order, { fields: WEBHOOK_FIELDS.order }],
      ["webhooks.user", user, { fields: WEBHOOK_FIELDS.user }],
      ["webhooks.user.lkyc", lkyc, STATE],
      ["webhooks.user.fkyc", fkyc, STATE],
    ];
  return looked.flatMap((one) => differences(...one)).slice(0, MOST_OF_ONE);
}

function differences(
  where: string,
  value: unknown,
  { fields, words = {}, time }: Described,
): string[] {
  const named = isRecord(value) ? Object.entries(value) : [];
  return named.flatMap(([name, said]) => {
    if (fields?.includes(name) === false) return `${where}.${fieldName(name)}`;
    if (typeof said !== "string" || said === "") return [];
    const listed = Object.hasOwn(words, name) ? words[name] : undefined;
    if (listed?.includes(said) === false) {
      return `${where}.${name}=${word(said, listed)}`;
    }
    const isOfForm = !/^(?:created|changed)_at$/.test(name) ||
      (time?.test(timeForm(said)) ?? true);
    return isOfForm ? [] : `${where}.${name} is ${timeForm(said)}`;
  });
}

/** What kind of JSON value something is. */
export function kindOf(value: unknown): string {
  if (value === undefined) return "missing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (value instanceof ExactNumber) return "number";
  return typeof value === "string" ? "text" : typeof value;
}

const LONGEST_WORD = 40;

/**
 * A word of a documented list as it is; any other text only where it is short
 * and holds nothing that could name a person, an order or an amount.
 */
export function word(value: string, documented: readonly string[]): string {
  const isPlain = documented.includes(value) ||
    (/^(?:\d{4}|[A-Za-z0-9][A-Za-z _-]*\d?)$/.test(value) &&
      value.length <= LONGEST_WORD);
  return isPlain ? value : `(text of ${value.length})`;
}

/** The name of a field; none that could be an identifier used as a key. */
export function fieldName(name: string): string {
  const isPlain = /^[A-Za-z_][A-Za-z_]*\d{0,2}$/.test(name) &&
    name.length <= LONGEST_WORD;
  return isPlain ? name : `(name of ${name.length})`;
}

/** The form of a time: digits become 9. Anything else is only measured. */
export function timeForm(value: unknown): string {
  if (typeof value !== "string") return `(${kindOf(value)})`;
  const form = value.replace(/\d/g, "9");
  return /^[9T:Z .+-]{1,40}$|^[9: .+-]{1,32}UTC$/.test(form)
    ? form
    : `(text of ${value.length})`;
}
