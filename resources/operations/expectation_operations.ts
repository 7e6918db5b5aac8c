import { defined } from "../../core/guards.ts";
import { needed, type Param } from "../../settings/params.ts";
import { lengthOfTime, moment } from "../../settings/values.ts";
import { type Operation, operation, type OperationParam } from "./operation.ts";
import { type Term, TERM_NAMES, TERMS, type TermsJson } from "./terms.ts";

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

/** Your own name of a purchase. */
export const REFERENCE: OperationParam<string> = stated(
  "Your own reference; it identifies one purchase",
);

/** How long what is recorded is valid. */
export const VALID_FOR: OperationParam<number> = {
  description: "How long it stays valid, in milliseconds; seven days by " +
    "default",
  schema: { type: "integer", minimum: 1 },
  read: (name, text) => lengthOfTime(name)(text),
  readJson: (_, value) => value as number,
  flag: "valid-for",
  operand: "<time>",
};

/** What an order is compared with. */
export const TERM_PARAMS = Object.fromEntries(
  TERM_NAMES.map((name) => {
    const { flag, means, isAmount }: Term = TERMS[name];
    const [word = "", operand = ""] = flag.split(" ");
    return [name, {
      ...(isAmount
        ? stated(`${means}, as a decimal in quotes`, {
          type: ["string", "integer"],
        })
        : stated(means)),
      flag: word,
      operand,
    }];
  }),
) as Readonly<Record<keyof TermsJson, OperationParam<string>>>;

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
      readFlag: (flag: string, text: string) => moment(flag)(text),
    },
  },
  inBody: true,
  result: { schema: "Expectation", description: "It is recorded" },
  begins: true,
  conflicts: true,
  run: ({ ledger }, values) => ledger.expect(defined(values)),
  logged: ({ id }) => ({ id }),
  says: (_, { clickId }) => `Expected under the click id ${clickId}: recorded`,
});
