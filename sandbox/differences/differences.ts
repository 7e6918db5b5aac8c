import type { AssumptionsSeenBy } from "../../core/assumptions/assumptions.ts";
import {
  type Answerer,
  answersInstead,
  type Difference,
  type Fields,
} from "./difference.ts";
import { LIST_DIFFERENCES } from "./list_differences.ts";

const REFUSED = {
  status: 400,
  body: { message: "invalid request: not available" },
};
const CREATED = {
  status: 200,
  body: {
    sessionId: "00000000-0000-4000-8000-000000000000",
    requestId: "00000000-0000-4000-8000-000000000001",
  },
};

const instead = (isMeant: (body: Fields) => boolean, answer: typeof REFUSED) =>
  answersInstead("sessions", isMeant, answer);

const refuses = (isMeant: (body: Fields) => boolean) =>
  instead(isMeant, REFUSED);

const takes = (isMeant: (body: Fields) => boolean): Difference =>
  answersInstead("sessions", isMeant, CREATED);

const isBtc = ({ commodity }: Fields) => commodity === "BTC";

/** How session creation can differ, one way for each assumption about it. */
const SESSION_DIFFERENCES: Readonly<
  Record<AssumptionsSeenBy<"session">, Difference>
> = {
  session_simple: refuses((body) =>
    body.flow_type === "simple" && body.currency_amount === 30 &&
    body.wallet_address === undefined && body.network !== "moon"
  ),
  session_restricted: refuses((body) =>
    body.flow_type === "simple_full_restrict" &&
    body.wallet_address !== undefined
  ),
  session_flow_required: takes((body) => body.flow_type === undefined),
  session_wallet_and_amount: refuses((body) =>
    body.flow_type === "simple_full_restrict" &&
    body.wallet_address === undefined
  ),
  session_currency_with_amount: takes((body) =>
    body.currency_amount !== undefined && body.currency === undefined
  ),
  session_minimum: takes((body) => body.currency_amount === 0.5),
  session_wallet_checked: takes((body) => body.wallet_address === "0x12"),
  session_unlisted_pair: takes((body) => body.network === "moon"),
  session_no_euro_in_sandbox: takes((body) => body.currency === "EUR"),
  session_btc_by_default: refuses((body) => body.commodity === undefined),
  session_network_by_default: takes((body) =>
    body.commodity !== undefined && body.network === undefined
  ),
  session_btc_minimum: takes((body) =>
    isBtc(body) && body.currency_amount === 29
  ),
};

const ANSWERS: Readonly<Record<string, Difference>> = {
  ...LIST_DIFFERENCES,
  ...SESSION_DIFFERENCES,
};

/** How the Test button's request can differ. */
const TESTS: Readonly<
  Record<
    AssumptionsSeenBy<"test_event">,
    (body: string, headers: Headers) => string
  >
> = {
  test_event_form: (body) => body.replace("test_click_id", "a_click_id"),
  test_event_is_json: (body, headers) => {
    headers.set("content-type", "text/plain");
    return body;
  },
  no_signature: (body, headers) => {
    headers.set("x-webhook-signature", "t=1,v1=0");
    return body;
  },
};

/**
 * Checks names of assumptions that do not hold in a sandbox.
 *
 * @throws {RangeError} If a name is not known.
 */
export function checkDifferences(names: readonly string[]): void {
  for (const name of names) {
    if (Object.hasOwn(ANSWERS, name) || Object.hasOwn(TESTS, name)) continue;
    throw new RangeError(
      `Cannot differ in ${name}: it is not one of ${
        [...Object.keys(ANSWERS), ...Object.keys(TESTS)].join(", ")
      }`,
    );
  }
}

/** The same service, in which the named assumptions do not hold. */
export function differingAnswers(
  names: readonly string[],
  answer: Answerer,
): Answerer {
  return names.map((name) => ANSWERS[name]).reduce<Answerer>(
    (inner, difference) =>
      difference === undefined
        ? inner
        : (request) => difference(request, inner),
    answer,
  );
}

/** The same sender, for whose Test button the named assumptions do not hold. */
export function differingSender(
  names: readonly string[],
  send: typeof fetch,
): typeof fetch {
  const changes = Object.entries(TESTS).filter(([name]) =>
    names.includes(name)
  );
  if (changes.length === 0) return send;
  return (input, init) => {
    const headers = new Headers(init?.headers);
    const { body: sent } = init ?? {};
    const body = changes.reduce(
      (text, [, change]) => change(text, headers),
      typeof sent === "string" ? sent : String(sent),
    );
    return send(input, { ...init, headers, body });
  };
}
