import type { Environment, OnrampClient } from "../../../client/mod.ts";
import type { Ledger } from "../../../ledger/mod.ts";
import {
  draftOptions,
  sessionEndpoint,
  type WidgetDraft,
} from "../../../widget/mod.ts";

/** What the shop sells, and to whose wallet at first. */
export const PRODUCT = {
  commodity: "TT",
  network: "amoy",
  currency: "USD",
  currencyAmount: "25.50",
  wallet: "0x71c7656ec7ab88b098defb751b7401b5f6d8976f",
} as const;

/** Colour of the shop's buttons, and so of the widget's. */
const BRAND = { light: "#0b6e69", dark: "#5ccdc5" } as const;

/** Checked widget options, for both looks of the page. */
export interface Drafts {
  /** For a light page. */
  readonly light: WidgetDraft;
  /** For a dark page. */
  readonly dark: WidgetDraft;
}

/**
 * Checks the widget's options on the server, once: the page adds nothing to
 * them but a session and its listeners.
 */
export function drafts(partnerId: string, environment: Environment): Drafts {
  const common = { partner_id: partnerId, lang: "en" } as const;
  const context = {
    environment: {
      widgetOrigin: environment.widgetOrigin,
      assets: environment.assets,
    },
  };
  return {
    light: draftOptions({ ...common, brand_color: BRAND.light }, context),
    dark: draftOptions(
      { ...common, brand_color: BRAND.dark, theme: "dark" },
      context,
    ),
  };
}

/** What the shop's sessions need. */
export interface ShopParts {
  /** Creates sessions. */
  readonly client: OnrampClient;
  /** Remembers them. */
  readonly ledger: Ledger;
  /** Called with the error when a session could not be made. */
  readonly report: (error: unknown) => void;
}

/**
 * The handler the page asks for a session at each click: locked to what the
 * shop sells. Only the wallet comes from the buyer.
 */
export function shopSessions(
  { client, ledger, report }: ShopParts,
): (request: Request) => Promise<Response> {
  let baskets = 0;
  return sessionEndpoint({
    // Everybody at this machine's loopback is the one customer of the demo.
    authorise: () => ({ id: "customer-1" }),
    plan: ({ user, input }) => {
      const wallet = walletOf(input);
      if (wallet === null) return null;
      return {
        session: {
          flow_type: "simple_full_restrict" as const,
          commodity: PRODUCT.commodity,
          network: PRODUCT.network,
          currency: PRODUCT.currency,
          currency_amount: PRODUCT.currencyAmount,
          wallet_address: wallet,
        },
        reference: `basket ${++baskets} of ${user.id}`,
      };
    },
    createSession: (session) => client.sessions.create(session),
    recordSession: ledger.recordSession,
    report,
  });
}

function walletOf(input: unknown): string | null {
  const wallet: unknown = Reflect.get(Object(input), "wallet");
  return typeof wallet === "string" && /^0x[0-9a-f]{40}$/i.test(wallet)
    ? wallet
    : null;
}
