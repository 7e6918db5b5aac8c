import type { AssumptionsSeenBy } from "../../core/assumptions/assumptions.ts";
import { answersInstead, type Difference, type Fields } from "./difference.ts";

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
export const SESSION_DIFFERENCES: Readonly<
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
