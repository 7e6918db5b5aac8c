import {
  AuthenticationError,
  CardError,
  ConflictError,
  PermissionError,
  RateLimitError,
  ServiceError,
} from "../errors/api_errors.ts";
import type {
  CardErrorCode,
  OnrampError,
  OnrampErrorFacts,
  PermissionErrorCode,
} from "../errors/onramp_error.ts";
import { ValidationError } from "../errors/validation_error.ts";
import type { Operation } from "./call_options.ts";
import type { Redact } from "./redact.ts";
import { readRetryAfterMs } from "../../core/waiting/retry_delay.ts";

/** The parts of a failed answer that decide its error. */
export interface Refusal {
  readonly operation: Operation;
  /** What could not be done, as the beginning of a sentence. */
  readonly action: string;
  readonly status: number;
  /** The parsed body; any value, or undefined when it is not JSON. */
  readonly body: unknown;
  readonly requestId: string | null;
  readonly retryAfter: string | null;
  readonly nowMs: number;
  readonly redact: Redact;
}

/** What the bodies of the three error tables can carry. */
interface ErrorBody {
  readonly message: string | null;
  readonly field: string | null;
  readonly serviceCode: number | null;
  readonly requestId: string | null;
  readonly userId: string | null;
  readonly createdAt: string | null;
}

/** Finds the error class for an answer; each row of the error tables has one. */
export function errorOf(refusal: Refusal): OnrampError {
  const body = readBody(refusal.body, refusal.redact);
  const facts: OnrampErrorFacts = {
    status: refusal.status,
    field: body.field,
    requestId: body.requestId ?? clip(refusal.requestId, refusal.redact),
    serviceCode: body.serviceCode,
    serviceMessage: body.message,
  };
  const say = (advice: string): string =>
    `${refusal.action}: the service answered ${refusal.status}` +
    `${body.message === null ? "" : ` ${JSON.stringify(body.message)}`}` +
    `${body.serviceCode === null ? "" : ` (code ${body.serviceCode})`}` +
    `${body.field === null ? "" : ` for ${body.field}`}; ${advice}`;
  const isClientError = refusal.status >= 400 && refusal.status < 500;
  const forOperation = isClientError
    ? tables[refusal.operation](refusal.status, body, facts, say)
    : null;
  return forOperation ?? general(refusal, body, facts, say);
}

type Say = (advice: string) => string;
type Table = (
  status: number,
  body: ErrorBody,
  facts: OnrampErrorFacts,
  say: Say,
) => OnrampError | null;

const keyAdvice = "use the API key of this environment";

/** Session errors are known by their message: their status is not documented. */
const sessionError: Table = (_status, body, facts, say) => {
  const message = body.message ?? "";
  if (/^unauthorized\b/i.test(message)) {
    return new AuthenticationError(say(keyAdvice), facts);
  }
  if (!/^invalid request\b/i.test(message)) return null;
  const [, rule = message] = /^invalid request:\s*(.*)$/is.exec(message) ?? [];
  return rejected(
    "Cannot create a session",
    facts,
    body,
    rule,
    /\b(?:wallet_address|commodity_amount|commodity|currency_amount|currency|network|user_id|flow_type)\b/,
  );
};

const userError: Table = (status, body, facts, say) => {
  if (status === 409) {
    return new ConflictError(
      say("use the existing user, who is named by userId"),
      { ...facts, userId: body.userId, createdAt: body.createdAt },
    );
  }
  if (status !== 403) return null;
  const code = (body.field !== null && refusals.get(body.field)) ||
    "forbidden";
  return new PermissionError(say(permissionAdvice[code]), { ...facts, code });
};

const refusals: ReadonlyMap<string, PermissionErrorCode> = new Map([
  ["has_accepted_terms_of_service", "terms_not_accepted"],
  ["country_of_residence", "restricted_country"],
  ["partner_id", "partner_not_allowed"],
]);

const permissionAdvice: Readonly<Record<PermissionErrorCode, string>> = {
  terms_not_accepted: "the user has to accept the terms of service first",
  restricted_country: "users of this country cannot be served",
  partner_not_allowed: "ask the service to enable the feature",
  partner_blocked: "ask the service why the partner is blocked",
  restricted_action: "ask the service why the action is restricted",
  forbidden: "the user may be under 18, or of an unsupported country or state",
};

const cardCodes: ReadonlyMap<number, readonly [CardErrorCode, string | null]> =
  new Map([
    [121, ["invalid_billing_address", "billing_address"]],
    [109, ["too_many_cards", null]],
    [113, ["card_already_registered", "card_number"]],
    [309, ["user_not_found", "user_id"]],
    [310, ["user_banned", "user_id"]],
  ]);

const cardTexts: ReadonlyMap<string, readonly [CardErrorCode, string | null]> =
  new Map([
    ["invalid card", ["invalid_card_number", "card_number"]],
    ["invalid exp month", ["invalid_exp_month", "exp_month"]],
    ["invalid year", ["invalid_exp_year", "exp_year"]],
    ["card expired", ["card_expired", null]],
    ["invalid billing address information", [
      "invalid_billing_address",
      "billing_address",
    ]],
    ["attempt to register more cards than allowed", ["too_many_cards", null]],
    ["card already registered", ["card_already_registered", "card_number"]],
    ["user not found", ["user_not_found", "user_id"]],
    ["user banned", ["user_banned", "user_id"]],
  ]);

const cardRefusals: ReadonlyMap<number, PermissionErrorCode> = new Map([
  [1022, "restricted_action"],
  [1023, "partner_not_allowed"],
  [1006, "partner_blocked"],
]);

const cardRefusalTexts: ReadonlyMap<string, PermissionErrorCode> = new Map([
  ["restricted action", "restricted_action"],
  ["partner not allowed", "partner_not_allowed"],
  ["partner is blocked", "partner_blocked"],
]);

const cardError: Table = (status, body, facts, say) => {
  const number = body.serviceCode;
  const words = body.message?.trim().toLowerCase() ?? "";
  if (number === 9002 || words === "invalid partner key") {
    return new AuthenticationError(say(keyAdvice), facts);
  }
  const refusal = (number !== null && cardRefusals.get(number)) ||
    cardRefusalTexts.get(words);
  if (refusal !== undefined) {
    return new PermissionError(say(permissionAdvice[refusal]), {
      ...facts,
      code: refusal,
    });
  }
  const known = (number !== null && cardCodes.get(number)) ||
    cardTexts.get(words);
  if (known === undefined && status !== 400) return null;
  const [code, field] = known ?? ["card_refused", null] as const;
  return new CardError(say("the card was not registered"), {
    ...facts,
    code,
    field: body.field ?? field,
  });
};

const tables: Readonly<Record<Operation, Table>> = {
  "sessions.create": sessionError,
  "users.create": userError,
  "cards.register": cardError,
  "orders.page": () => null,
  "users.page": () => null,
};

/** What a status means wherever no table says more. */
function general(
  refusal: Refusal,
  body: ErrorBody,
  facts: OnrampErrorFacts,
  say: Say,
): OnrampError {
  const { status } = refusal;
  const retryAfterMs = readRetryAfterMs(refusal.retryAfter, refusal.nowMs);
  if (status === 401 || /^(?:ERR_)?unauthorized\b/i.test(body.message ?? "")) {
    return new AuthenticationError(say(keyAdvice), facts);
  }
  if (status === 403) {
    return new PermissionError(
      say("ask the service what the partner may do"),
      { ...facts, code: "forbidden" },
    );
  }
  if (status === 429) {
    return new RateLimitError(say("try again later, and more slowly"), {
      ...facts,
      retryAfterMs,
    });
  }
  if (status === 400 || status === 422) {
    return rejected(refusal.action, facts, body, body.message, null);
  }
  return new ServiceError(
    say(
      status >= 500 || status === 408
        ? "try again later"
        : "check the addresses of the environment",
    ),
    { ...facts, retryAfterMs },
  );
}

function rejected(
  action: string,
  facts: OnrampErrorFacts,
  body: ErrorBody,
  rule: string | null,
  mentioned: RegExp | null,
): ValidationError {
  const field = body.field ?? mentioned?.exec(rule ?? "")?.[0] ?? null;
  return new ValidationError(
    `${action}: the service answered ${facts.status}`,
    {
      ...facts,
      field,
      faults: [{
        field: field ?? "request",
        rule: rule ?? "required fields are missing or invalid",
      }],
    },
  );
}

function readBody(body: unknown, redact: Redact): ErrorBody {
  const fields: Readonly<Record<string, unknown>> =
    typeof body === "object" && body !== null
      ? { ...body }
      : { message: typeof body === "string" ? body : undefined };
  const text = (...names: string[]): string | null => {
    for (const name of names) {
      const value = fields[name];
      if (typeof value === "string" && value !== "") return clip(value, redact);
    }
    return null;
  };
  const code = text("code");
  return {
    message: text("message", "error_description", "error"),
    field: text("field"),
    // Numbers arrive as decimal strings, because all answers are read exactly.
    serviceCode: code !== null && /^\d{1,9}$/.test(code) ? Number(code) : null,
    requestId: text("request_id", "requestId"),
    userId: text("user_id"),
    createdAt: text("created_at"),
  };
}

function clip(text: string | null, redact: Redact): string | null {
  if (text === null) return null;
  const clean = redact(text);
  return clean.length > 300 ? `${clean.slice(0, 300)}…` : clean;
}
