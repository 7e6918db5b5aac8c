import type { FlowType, SessionInput } from "../../client/sessions.ts";
import { sessionValidityMs } from "../../core/rules/session_limits.ts";
import { defined } from "../../core/guards.ts";
import type { TermsToRecord } from "../../ledger/mod.ts";
import { UsageError } from "../../core/settings/errors.ts";
import {
  flagParam,
  needed,
  type Param,
  wordParam,
} from "../../core/settings/params.ts";
import { lengthOfTime, moment } from "../../core/settings/values.ts";
import type { SessionJson } from "../views/ledger_view.ts";
import { lower } from "../views/text.ts";
import {
  type Operation,
  operation,
  type OperationParam,
  serviceOf,
} from "./operation.ts";

/** One of the terms that an order is compared with. */
interface Term {
  /** Its name in the service's own words, as the ledger records it. */
  readonly field: keyof TermsToRecord;
  /** Its flag with its operand. */
  readonly flag: string;
  /** What it is. */
  readonly means: string;
  /** Whether it is an amount. @default {false} */
  readonly isAmount?: true;
}

/** What an order is compared with, by its name in the API. */
const TERMS = {
  currency: {
    field: "currency",
    flag: "currency <code>",
    means: "Fiat currency",
  },
  currencyAmount: {
    field: "currency_amount",
    flag: "currency-amount <decimal>",
    means: "Fiat amount",
    isAmount: true,
  },
  commodity: {
    field: "commodity",
    flag: "commodity <code>",
    means: "Asset, for example USDC",
  },
  network: {
    field: "network",
    flag: "network <name>",
    means: "Network of the asset",
  },
  commodityAmount: {
    field: "commodity_amount",
    flag: "commodity-amount <decimal>",
    means: "Amount of the asset",
    isAmount: true,
  },
  walletAddress: {
    field: "wallet_address",
    flag: "wallet <address>",
    means: "Address that receives the asset",
  },
  userId: { field: "user_id", flag: "user <id>", means: "User who must pay" },
} as const satisfies Readonly<Record<string, Term>>;

type TermName = keyof typeof TERMS;

const TERM_NAMES = Object.keys(TERMS) as readonly TermName[];

/** What an order is compared with, as the API writes it. */
type TermsJson = { readonly [Name in TermName]?: string };

/** What an order is compared with, in the service's own words. */
function termsToRecord(given: TermsJson): TermsToRecord {
  return defined(Object.fromEntries(
    TERM_NAMES.map((name) => [TERMS[name].field, given[name]]),
  ));
}

/** A parameter that the ledger checks, which lists all that are at fault. */
function stated(
  description: string,
  schema: Param<string>["schema"] = {
    ...{ type: "string", minLength: 1, maxLength: 256 },
  },
): OperationParam<string> {
  return {
    description,
    schema,
    read: (_, text) => text,
    readJson: (_, value) => value as string,
  };
}

const REFERENCE = stated(
  "Your own reference; it identifies one purchase",
);

const VALID_FOR: OperationParam<number> = {
  description: "How long it stays valid; seven days by default",
  schema: { type: "integer", minimum: 1 },
  read: lengthOfTime,
  readJson: (_, value) => value as number,
  flag: "valid-for",
  operand: "<time>",
};

/** The parameters of the terms, each made of its row. */
function termParams(
  nameOf: (name: TermName) => string,
  prefix = "",
  about = "",
): Readonly<Record<string, OperationParam<string>>> {
  return Object.fromEntries(TERM_NAMES.map((name) => {
    const { flag, means, isAmount }: Term = TERMS[name];
    const [word = "", operand = ""] = flag.split(" ");
    const text = about === "" ? means : `${about}: ${lower(means)}`;
    return [nameOf(name), {
      ...(isAmount
        ? stated(`${text}, as a decimal in quotes`, {
          type: ["string", "integer"],
        })
        : stated(text)),
      flag: prefix + word,
      operand,
    }];
  }));
}

const TERM_PARAMS = termParams((name) => name) as Readonly<
  Record<TermName, OperationParam<string>>
>;

/** `expect`. */
export const EXPECT: Operation = operation({
  command: "expect",
  path: "/v1/expectations",
  scope: "operate",
  operationId: "expectOrder",
  summary: "Record what an order must match, without a session",
  description: "Use it when another program makes the sessions, or when a " +
    "basket has changed since its session. The last record for a " +
    "reference before the order counts.",
  examples: [
    "--click c-17 --reference basket-17 --currency USD " +
    "--currency-amount 900.00",
  ],
  params: {
    clickId: {
      ...needed(stated("Click id that the widget is opened with")),
      flag: "click",
      operand: "<id>",
    },
    reference: REFERENCE,
    ...TERM_PARAMS,
    validForMs: VALID_FOR,
    askedAt: {
      ...stated("When it was asked for, if not now", {
        ...{ type: "string", format: "date-time" },
      }),
      operand: "<time>",
      readFlag: moment,
    },
  },
  inBody: true,
  result: { schema: "Expectation", description: "It is recorded" },
  opens: "begins",
  conflicts: true,
  run: ({ ledger }, values) => ledger.expect(defined(values)),
  logged: ({ id }) => ({ id }),
  says: (_, { clickId }) => `Expected under the click id ${clickId}: recorded`,
});

/** The name of the flag of a term that is stated beside the session's own. */
function expectedName(name: TermName): string {
  return `expect${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}

/** The flags of stated terms; a request has them in one object. */
const EXPECTED_FLAGS = Object.fromEntries(
  Object.entries(termParams(
    expectedName,
    "expect-",
    "Compare the order with this, not with the session's",
  )).map(([name, param]) => [name, { ...param, only: "command" as const }]),
);

const EXPECTED: OperationParam<TermsJson> = {
  description: "What the order is compared with where the session does not " +
    "say it; it counts in place of the session's own fields",
  schema: {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(TERM_PARAMS).map(([name, { schema, description }]) => [
        name,
        { ...schema, description },
      ]),
    ),
  },
  read: (name) => {
    throw new UsageError(`Wrong ${name}: it is not an object`);
  },
  readJson: (_, value) => value as TermsJson,
  only: "request",
};

/** What the flags of stated terms say; undefined where none was given. */
function expectedByFlags(
  values: Readonly<Record<string, unknown>>,
): TermsJson | undefined {
  const terms: TermsJson = defined(Object.fromEntries(
    TERM_NAMES.map((name) => [name, values[expectedName(name)] as string]),
  ));
  return Object.keys(terms).length === 0 ? undefined : terms;
}

/** `session create`: what back ends ask for before the widget opens. */
export const CREATE_SESSION: Operation = operation({
  command: "session create",
  path: "/v1/sessions",
  scope: "operate",
  operationId: "createSession",
  action: "create_session",
  summary: "Ask the service for a widget session, and record it",
  description: "Ask when the user clicks: a session opens one widget, " +
    "within 30 seconds. Open the widget with `clickId` of the answer.",
  examples: [
    "--commodity POL --network amoy --currency USD --currency-amount 25 " +
    "--reference basket-17",
  ],
  params: {
    flowType: {
      ...wordParam<FlowType>("What the user may change; simple unless said", [
        "simple",
        "simple_full_restrict",
      ]),
      operand: "<type>",
    },
    ...TERM_PARAMS,
    currency: { ...TERM_PARAMS.currency, readFlag: listedCurrency },
    smartContract: flagParam(
      "For a smart contract: simple_full_restrict then needs no wallet and no " +
        "amount",
    ),
    clickId: {
      ...stated("Click id for the widget; one is made where it is left out"),
      flag: "click",
      operand: "<id>",
    },
    reference: REFERENCE,
    allowUnlistedAssets: {
      ...flagParam("Allow an asset that this version does not list"),
      only: "command" as const,
    },
    extra: {
      description: "A field or value that this version does not know; may be " +
        "repeated",
      schema: { type: "string" },
      read: extraField,
      many: true as const,
      operand: "<name=value>",
      only: "command" as const,
    },
    expected: EXPECTED,
    ...EXPECTED_FLAGS,
    validForMs: VALID_FOR,
  },
  inBody: true,
  result: { schema: "Session", description: "The session" },
  opens: "begins",
  asks: "sessions",
  conflicts: true,
  stopped: () =>
    "no answer came; if the service made a session, it lapses after 30 " +
    "seconds, and the ledger does not know it",
  run: async (context, values): Promise<SessionJson> => {
    const { reference, validForMs, smartContract = false } = values;
    const service = serviceOf(context);
    const input = defined({
      flow_type: values.flowType ?? "simple",
      ...termsToRecord(values),
    }) as SessionInput;
    const extra = Object.fromEntries(values.extra ?? []);
    const sessions = service.sessions(values.allowUnlistedAssets);
    const { sessionId, requestId, warnings } = await sessions.create(input, {
      signal: context.signal,
      smartContract,
      extra,
    });
    const clickId = values.clickId ?? service.newClickId();
    const expected = values.expected ?? expectedByFlags(values);
    await context.ledger.recordSession(defined({
      ...input,
      ...extra,
      session_id: sessionId,
      request_id: requestId ?? undefined,
      click_id: clickId,
      reference,
      valid_for_ms: validForMs,
      expected: expected && termsToRecord(expected),
    }));
    const validMs = sessionValidityMs;
    return { sessionId, requestId, clickId, validForMs: validMs, warnings };
  },
  logged: ({ sessionId, clickId }) => ({ sessionId, clickId }),
  notes: ({ warnings }) => warnings,
  says: ({ sessionId, clickId }) =>
    `Session ${sessionId}: for one opening of the widget, within 30 seconds, ` +
    `with the click id ${clickId}`,
});

function listedCurrency(flag: string, code: string): string {
  if (code === "USD" || code === "EUR") return code;
  throw new UsageError(
    `Wrong ${flag}: ${code} is neither USD nor EUR; if the service has ` +
      `added it since this version, use --extra currency=${code}`,
  );
}

function extraField(
  flag: string,
  text: string,
): readonly (readonly [string, string])[] {
  const [, name = "", value = ""] = /^(\w+)=(.*)$/s.exec(text) ?? [];
  if (name !== "") return [[name, value]];
  throw new UsageError(`Wrong ${flag}: ${text} is not NAME=VALUE`);
}
