import type { TriggerInput } from "../delivery/delivery_log.ts";
import { isRecord } from "../../core/guards.ts";
import type { OrderInput, UserInput } from "../engine/entity_factory.ts";
import type { StepFacts } from "../engine/order_steps.ts";
import type { SandboxOrder } from "../engine/sandbox_order.ts";

/** Fields of a request to the control API. */
export type Fields = Record<string, unknown>;

const ORDER_FIELDS = {
  clickId: "string",
  sessionId: "string",
  userId: "string",
  cardId: "string",
  currency: "string",
  currencyAmount: "string",
  commodity: "string",
  network: "string",
  cryptoType: "string",
  cryptoAmount: "string",
  address: "string",
  status: "string",
  failReason: "string",
  errorText: "string",
  txId: "string",
} as const;

/** Reads the fields of an order. */
export function orderInput(fields: Fields): OrderInput {
  return pick(fields, ORDER_FIELDS) as Partial<SandboxOrder>;
}

/** Reads the fields of a user. */
export function userInput(fields: Fields): UserInput {
  return pick(fields, {
    country: "string",
    phone: "string",
    phoneCountry: "string",
    lkyc: "string",
    fkyc: "string",
    banned: "boolean",
  });
}

/** Reads the facts of a step. */
export function stepFacts(fields: Fields): Partial<StepFacts> {
  return pick(fields, {
    txId: "string",
    failReason: "string",
    errorText: "string",
  });
}

/** Reads the event to send. */
export function triggerInput(fields: Fields): TriggerInput {
  const input = pick(fields, {
    type: "string",
    orderId: "string",
    userId: "string",
    fields: "object",
  });
  if (typeof input.type !== "string") {
    throw new TypeError("Cannot trigger an event: type is missing");
  }
  return { ...input, type: input.type };
}

/** Throws unless every field is named in `kinds` and of that kind. */
export function pick(
  fields: Fields,
  kinds: Readonly<Record<string, string>>,
): Fields {
  for (const [name, value] of Object.entries(fields)) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    if (kindOf(value) === kind) continue;
    throw new TypeError(
      kind === undefined
        ? `Cannot read the request: field "${name}" is not one of ${
          Object.keys(kinds).join(", ") || "none"
        }`
        : `Cannot read the request: ${name} must be ${
          kind === "object" ? "an" : "a"
        } ${kind}, got ${JSON.stringify(value)}`,
    );
  }
  return fields;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** Reads the body of a request; an empty one has no fields. */
export async function readFields(request: Request): Promise<Fields> {
  const text = await request.text();
  if (text === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TypeError("Cannot read the request: its body is not JSON");
  }
  if (isRecord(value)) return value;
  throw new TypeError("Cannot read the request: its body is not an object");
}
