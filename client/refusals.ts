import {
  CARD_REFUSALS,
  type CardRefusal,
} from "../core/rules/request_rules.ts";
import { readRetryAfterMs } from "../core/waiting/waiting.ts";
import type { Operation } from "./call_options.ts";
import {
  AuthenticationError,
  CardError,
  ConflictError,
  type OnrampError,
  PermissionError,
  type PermissionErrorCode,
  RateLimitError,
  ServiceError,
  ValidationError,
} from "./errors.ts";

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
  readonly redact: (text: string) => string;
}

const permissionAdvice: Readonly<Record<PermissionErrorCode, string>> = {
  terms_not_accepted: "the user has to accept the terms of service first",
  restricted_country: "users of this country cannot be served",
  partner_not_allowed: "ask the service to enable the feature",
  partner_blocked: "ask the service why the partner is blocked",
  restricted_action: "ask the service why the action is restricted",
  forbidden: "the user may be under 18, or of an unsupported country or state",
};

/** Why a user is not created, by the field that the service names. */
const userRefusals: ReadonlyMap<string | null, PermissionErrorCode> = new Map([
  ["has_accepted_terms_of_service", "terms_not_accepted"],
  ["country_of_residence", "restricted_country"],
  ["partner_id", "partner_not_allowed"],
]);

const sessionField =
  /\b(?:wallet_address|commodity_amount|commodity|currency_amount|currency|network|user_id|flow_type)\b/;

/** Finds the error class for an answer; each row of the error tables has one. */
export function errorOf(refusal: Refusal): OnrampError {
  const { operation, action, status } = refusal;
  const body = readBody(refusal);
  const { field, requestId, serviceCode, message } = body;
  const facts = {
    status,
    field,
    requestId,
    serviceCode,
    serviceMessage: message,
  };
  const words = message ?? "";
  const say = (advice: string): string =>
    `${action}: the service answered ${status}` +
    `${message === null ? "" : ` ${JSON.stringify(message)}`}` +
    `${serviceCode === null ? "" : ` (code ${serviceCode})`}` +
    `${field === null ? "" : ` for ${field}`}; ${advice}`;
  const unauthorized = () =>
    new AuthenticationError(
      say("use the API key of this environment"),
      facts,
    );
  const forbidden = (
    code: PermissionErrorCode,
    advice: string = permissionAdvice[code],
  ) => new PermissionError(say(advice), { ...facts, code });
  const rejected = (rule: string | null, named = field) =>
    new ValidationError(`${action}: the service answered ${status}`, {
      ...facts,
      field: named,
      faults: [{
        field: named ?? "request",
        rule: rule ?? "required fields are missing or invalid",
      }],
    });
  const retryAfterMs = readRetryAfterMs(refusal.retryAfter, refusal.nowMs);
  const isClientError = status >= 400 && status < 500;

  // Session errors are known by their message: their status is not documented.
  if (operation === "sessions.create" && isClientError) {
    const [, rule = words] = /^invalid request:\s*(.*)$/is.exec(words) ?? [];
    if (/^invalid request\b/i.test(words)) {
      return rejected(rule, field ?? sessionField.exec(rule)?.[0] ?? null);
    }
  }
  if (operation === "users.create" && status === 409) {
    const { userId, createdAt } = body;
    return new ConflictError(
      say("use the existing user, who is named by userId"),
      { ...facts, userId, createdAt },
    );
  }
  if (operation === "users.create" && status === 403) {
    return forbidden(userRefusals.get(field) ?? "forbidden");
  }
  if (operation === "cards.register" && isClientError) {
    const known = cardRefusal(serviceCode, words);
    switch (known) {
      case "unauthorized":
        return unauthorized();
      case "restricted_action":
      case "partner_not_allowed":
      case "partner_blocked":
        return forbidden(known);
    }
    if (known !== undefined || status === 400) {
      return new CardError(say("the card was not registered"), {
        ...facts,
        code: known ?? "card_refused",
        field: field ?? (known ? CARD_REFUSALS[known][3] : null),
      });
    }
  }

  if (status === 401 || /^(?:ERR_)?unauthorized\b/i.test(words)) {
    return unauthorized();
  }
  if (status === 403) {
    return forbidden("forbidden", "ask the service what the partner may do");
  }
  if (status === 429) {
    return new RateLimitError(say("try again later, and more slowly"), {
      ...facts,
      retryAfterMs,
    });
  }
  if (status === 400 || status === 422) return rejected(message);
  return new ServiceError(
    say(
      status >= 500 || status === 408
        ? "try again later"
        : "check the addresses of the environment",
    ),
    { ...facts, retryAfterMs },
  );
}

/** The row of the table that has the number, else the one that has the words. */
function cardRefusal(
  number: number | null,
  words: string,
): CardRefusal | undefined {
  const names = Object.keys(CARD_REFUSALS) as CardRefusal[];
  const said = words.trim().toLowerCase();
  return names.find((name) =>
    number !== null && CARD_REFUSALS[name][1] === number
  ) ?? names.find((name) => CARD_REFUSALS[name][2].toLowerCase() === said);
}

/** What the bodies of the three error tables can carry. */
function readBody({ body, requestId, redact }: Refusal) {
  const fields: Readonly<Record<string, unknown>> =
    typeof body === "object" && body !== null
      ? { ...body }
      : { message: typeof body === "string" ? body : undefined };
  const text = (...names: string[]): string | null => {
    const value = names.map((name) => fields[name])
      .find((value) => typeof value === "string" && value !== "");
    return typeof value === "string" ? clip(redact(value)) : null;
  };
  const code = text("code");
  return {
    message: text("message", "error_description", "error"),
    field: text("field"),
    // Numbers arrive as decimal strings, because all answers are read exactly.
    serviceCode: code !== null && /^\d{1,9}$/.test(code) ? Number(code) : null,
    requestId: text("request_id", "requestId") ??
      (requestId === null ? null : clip(redact(requestId))),
    userId: text("user_id"),
    createdAt: text("created_at"),
  };
}

function clip(text: string): string {
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}
