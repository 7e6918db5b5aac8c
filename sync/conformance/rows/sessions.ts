import type { AssumptionName } from "../../../core/assumptions/assumptions.ts";
import type { AssetTable } from "../../../core/assets/environment.ts";
import { ExactNumber } from "../../../core/json/exact_number.ts";
import { notSeen } from "../observing/observation.ts";
import type { ReadAnswer, Reader } from "../observing/reader.ts";
import { type ConformanceRow, row } from "../observing/row.ts";
import { kindOf, message } from "../observing/scrub.ts";
import { isRefusal } from "./lists.ts";

type Body = Readonly<Record<string, unknown>>;

/** The address that EIP-55 gives as its example: nobody opens these sessions. */
const WALLET = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

const pol = (assets: AssetTable) => ({
  commodity: "POL",
  network: assets === "sandbox" ? "amoy" : "polygon",
});

const usd = (amount: string) => ({
  currency: "USD",
  currency_amount: new ExactNumber(amount),
});

const simple = (assets: AssetTable, more: Body): Body => ({
  flow_type: "simple",
  ...pol(assets),
  ...more,
});

/** A row that asks for sessions, and is not seen where nobody wants that. */
function asking<Facts extends Readonly<Record<string, string | number | null>>>(
  see: (
    create: (body: Body) => Promise<ReadAnswer>,
    assets: AssetTable,
  ) => Promise<Facts>,
  agrees: (facts: Facts) => boolean,
  environment?: AssetTable,
): ConformanceRow {
  return row(async ({ session, assets }: Reader) => {
    if (environment !== undefined && assets !== environment) {
      return notSeen("other_environment");
    }
    return session === null
      ? notSeen("not_asked_for_sessions")
      : await see(session, assets);
  }, agrees);
}

const created = ({ status, body }: ReadAnswer) => ({
  status,
  sessionId: kindOf(body.sessionId),
  requestId: kindOf(body.requestId),
  message: message(body),
});

const isCreated = (
  { status, sessionId, requestId }: {
    readonly status: number;
    readonly sessionId: string;
    readonly requestId: string;
  },
) => status === 200 && sessionId === "text" && requestId === "text";

const refused = (
  body: (assets: AssetTable) => Body,
  environment?: AssetTable,
) =>
  asking(
    async (create, assets) => {
      const { status, body: answer } = await create(body(assets));
      return { status, message: message(answer) };
    },
    ({ status }) => isRefusal(status),
    environment,
  );

const MUST_SPECIFY =
  /^invalid request: wallet_address and either commodity_amount or currency_amount must be specified/;

/** What the creation of sessions does. */
export const SESSION_ROWS = {
  session_simple: asking(
    async (create, assets) => created(await create(simple(assets, usd("30")))),
    isCreated,
  ),
  session_restricted: asking(
    async (create, assets) =>
      created(
        await create({
          ...simple(assets, usd("30")),
          flow_type: "simple_full_restrict",
          wallet_address: WALLET,
        }),
      ),
    isCreated,
  ),
  session_flow_required: refused((assets) => ({
    ...pol(assets),
    ...usd("30"),
  })),
  session_wallet_and_amount: asking(
    async (create, assets) => {
      const { status, body } = await create({
        flow_type: "simple_full_restrict",
        ...pol(assets),
      });
      return { status, message: message(body) };
    },
    ({ status, message }) =>
      isRefusal(status) && MUST_SPECIFY.test(message ?? ""),
  ),
  session_currency_with_amount: refused((assets) =>
    simple(assets, { currency_amount: new ExactNumber("30") })
  ),
  session_minimum: asking(
    async (create, assets) => {
      const below = await create(simple(assets, usd("0.5")));
      const least = await create(simple(assets, usd("1")));
      return { below: below.status, least: least.status };
    },
    ({ below, least }) => isRefusal(below) && least === 200,
  ),
  session_wallet_checked: refused((assets) =>
    simple(assets, { ...usd("30"), wallet_address: "0x12" })
  ),
  session_unlisted_pair: refused(() => ({
    flow_type: "simple",
    commodity: "POL",
    network: "moon",
    ...usd("30"),
  })),
  session_no_euro_in_sandbox: refused(
    (assets) => simple(assets, { ...usd("30"), currency: "EUR" }),
    "sandbox",
  ),
  session_btc_by_default: asking(
    async (create) => created(await create({ flow_type: "simple" })),
    isCreated,
    "sandbox",
  ),
  session_network_by_default: refused(() => ({
    flow_type: "simple",
    commodity: "POL",
  })),
  session_btc_minimum: asking(
    async (create) => {
      const btc = { flow_type: "simple", commodity: "BTC", network: "bitcoin" };
      const below = await create({ ...btc, ...usd("29") });
      const least = await create({ ...btc, ...usd("30") });
      return { below: below.status, least: least.status };
    },
    ({ below, least }) => isRefusal(below) && least === 200,
    "production",
  ),
} as const satisfies Partial<Record<AssumptionName, ConformanceRow>>;
